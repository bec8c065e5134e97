"""The generated messages. Import the module of each; nothing is imported here."""
