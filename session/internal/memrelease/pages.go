package memrelease

// Pages tracks the mapped pages of a process's own program file: code and constants. Each page fault maps its
// surroundings too (64 KiB, "fault-around" of Linux). They count as the process's memory for as long as it runs, even
// if used once a day. Released pages are mapped again on use, at the cost of one fault for each such part. The zero
// value is that of a process that has just started.
type Pages struct {
	faults       uint64 // total at the last call
	baseline     uint64 // pages that returned after the last release, at the first call after it: they are always in use
	justReleased bool   // there was no call since the last release
}

const (
	// noiseFaults is the number of faults between two calls that does not matter. minFaults is the number that makes a
	// release worthwhile: mostly 1 MiB.
	noiseFaults, minFaults = 12, 16
)

// IsDue reports whether pages must be released now, given the total of minor page faults. released reports that memory
// was released just now, so the process is idle.
func (p *Pages) IsDue(faults uint64, released bool) bool {
	moved := faults - p.faults
	p.faults = faults
	if released {
		p.justReleased = true
		return true
	}
	if p.justReleased {
		p.baseline, p.justReleased = faults, false
		return false
	}
	if moved > noiseFaults || faults-p.baseline < minFaults {
		return false
	}
	p.justReleased = true
	return true
}
