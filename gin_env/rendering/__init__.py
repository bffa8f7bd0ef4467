"""Pictures of a table; each kind in its own module, so that drawing libraries load only when they are used."""
