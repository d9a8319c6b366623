"""SPARQL engines: one small protocol over an embedded store and over HTTP endpoints."""
