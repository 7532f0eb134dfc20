"""The data plane: touches the disks and decides nothing."""
