"""The 13 graph functions on any SPARQL engine that holds Wikidata's RDF model."""
