"""What tests of several folders share: `faulty` is torch with planted faults, `faults` are faults with a name."""
