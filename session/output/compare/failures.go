package compare

const (
	maxFailures = 1 << 12 // templates that Failures keeps
	maxSeen     = 1 << 16 // templates of a run that are not scored again
)

// Failures holds the lines that read like a failure in earlier failed runs of a command, without those that good runs printed
// too. Add the failed runs first: memory then does not depend on the size of good runs.
type Failures struct {
	hasher
	known map[uint64]struct{}
	seen  map[uint64]struct{} // templates of the failed runs
}

// NewFailures returns a set without lines.
func NewFailures() *Failures {
	return &Failures{hasher: newHasher(), known: map[uint64]struct{}{}, seen: map[uint64]struct{}{}}
}

// NewFailedRun returns a function that adds the next line of a failed run, without its end.
func (f *Failures) NewFailedRun() func(line []byte) {
	var s scorer
	return func(line []byte) {
		s.linesRead++
		h, ok := f.hash(line)
		if _, seen := f.seen[h]; !ok || seen {
			return
		}
		if len(f.seen) >= maxSeen {
			clear(f.seen)
		}
		f.seen[h] = struct{}{}
		if s.rate(clip(line)) > scoreNone && len(f.known) < maxFailures {
			f.known[h] = struct{}{}
		}
	}
}

// AddGood removes a line of a good run, given without its end.
func (f *Failures) AddGood(line []byte) {
	if len(f.known) == 0 {
		return
	}
	if h, ok := f.hash(line); ok {
		delete(f.known, h)
	}
}

// Finish releases what only NewFailedRun needs, and reports whether lines remain.
func (f *Failures) Finish() bool {
	f.seen = nil
	return len(f.known) > 0
}

// Has reports whether a failed run printed a line of the same form, and no good run did.
func (f *Failures) Has(line []byte) bool {
	h, ok := f.hash(line)
	_, known := f.known[h]
	return ok && known
}
