"""Takes the trail of a process that died in a trial; returns a finding with a script that dies in the same way."""
