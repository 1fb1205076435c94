"""The fixed variant of each case: its inputs edited the way its remedy says."""
