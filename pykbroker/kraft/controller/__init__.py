"""The controller: decides what each request changes in the metadata log, one module per subject."""
