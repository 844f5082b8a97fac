"""numpy and scipy on arrays: what SQL cannot say, or says slowly."""
