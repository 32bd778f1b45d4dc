package calm

// Pages is what is known of the pages of its own file that a process has mapped: code and constants. Each that is looked at brings
// those around it (64 KiB, "fault-around" of Linux), which then count as the process's memory for as long as it runs, though they
// are used once a day. What is left is mapped again when it is used, by one fault for each such part. The zero value is that of a
// process that has just begun.
type Pages struct {
	faults uint64 // up to the last look
	kept   uint64 // up to the first look after pages were left: what comes back at once is what is used all the time
	fresh  bool   // there was no look since
}

const (
	// idle is how many faults between two looks are none that matter, worth how many make it worth while: 1 MiB, mostly.
	idle, worth = 12, 16
)

// Due says, by the minor page faults there were ever, that pages are to be left now. calm: memory was given back just now, so that
// the process is known to rest.
func (p *Pages) Due(faults uint64, calm bool) bool {
	moved := faults - p.faults
	p.faults = faults
	if calm {
		p.fresh = true
		return true
	}
	if p.fresh {
		p.kept, p.fresh = faults, false
		return false
	}
	if moved > idle || faults-p.kept < worth {
		return false
	}
	p.fresh = true
	return true
}
