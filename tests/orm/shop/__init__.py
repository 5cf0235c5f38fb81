"""The sample application of the Django tour."""
