"""The mended twin of each case, made by editing its inputs the way its remedy says."""
