package memrelease

// Pages tracks the mapped pages of a process's own program file: code and constants. Each page fault maps its
// surroundings too (64 KiB, "fault-around" of Linux). They count as the process's memory for as long as it runs, even
// if used once a day. Released pages are mapped again on use, at the cost of one fault for each such part. The zero
// value is that of a process that has just started.
type Pages struct {
	faults uint64 // up to the last look
	kept   uint64 // at the first call after a release: pages that come back at once are always in use
	fresh  bool   // there was no look since
}

const (
	// idle is the number of faults between two calls that does not matter; worth is the number that makes a release
	// worthwhile: mostly 1 MiB.
	idle, worth = 12, 16
)

// Due reports whether pages must be released now, given the total of minor page faults. calm: memory was released just
// now, so the process is idle.
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
