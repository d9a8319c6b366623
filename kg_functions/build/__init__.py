"""Building a graph folder from Wikidata's entity JSON or RDF."""
