"""Tables of numbers: columns that say heading, kind and value, and renderers that know kinds."""
