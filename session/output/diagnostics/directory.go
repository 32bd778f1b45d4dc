package diagnostics

import (
	"path"
	"slices"
	"strings"
)

// directories tracks the directories that make and similar tools report: file names printed below are relative to them.
//
// A make has a level, one higher than its parent make's, and reports each directory on entering and leaving it. If
// several makes of a level run in different directories (make -j without -O), the directory of a line is unknown. Other
// programs report one directory only, and mostly not its end.
type directories struct {
	open    []directory // outermost first
	reports int         // lines that reported one

	now   string   // directory of the following lines; empty if unreported, or uncertain (see maybe)
	maybe []string // it is one of these
	at    int      // index of the line that reported it

	keep bool // moves, for what is read later
	log  []move
}

type directory struct {
	path  string // empty if make does not know it either
	level int    // of a make; inner: another program's
	at    int    // index of the line that reported it
}

// move is where lines are printed from one on.
type move struct {
	at int
	to string
}

const (
	inner = -1

	// maxDirectories bounds the directories open at a time, maxMoves the moves.
	maxDirectories = 64
	maxMoves       = 10_000
)

// read handles a line and reports whether it concerns a directory. left is a directory that was left but never entered.
func (d *directories) read(i int, line string) (left string, tells bool) {
	level, words, ok := teller(line)
	if !ok {
		return "", false
	}
	dir, enters, ok := directoryIn(words)
	switch {
	case level == inner && endsInner(words):
		d.dropFrom(d.last(inner, ""))
	case !ok:
		return "", false
	case enters:
		d.enter(directory{path: dir, level: level, at: i})
	case !d.leave(level, dir) && len(d.open) == 0:
		left = dir
	}
	d.reports++
	d.update(i)
	return left, true
}

// enter opens a directory. It closes deeper ones, except those that others of its level have opened.
func (d *directories) enter(n directory) {
	if n.level == inner {
		d.dropFrom(d.last(inner, ""))
	} else if d.last(n.level, "") < 0 {
		d.dropFrom(slices.IndexFunc(d.open, func(o directory) bool { return o.level > n.level }))
	}
	if n.path != "" && !isAbs(n.path) && len(d.open) > 0 {
		n.path = join(d.open[len(d.open)-1].path, n.path)
	}
	if len(d.open) >= maxDirectories { // their ends are not reported
		d.open = d.open[:0]
	}
	d.open = append(d.open, n)
}

// leave closes a directory and those entered from it, and reports whether it was open.
func (d *directories) leave(level int, dir string) bool {
	k := d.last(level, dir)
	if k < 0 {
		return false
	}
	if slices.ContainsFunc(d.open, func(o directory) bool { return o.level == level && o != d.open[k] }) {
		d.open = slices.Delete(d.open, k, k+1)
	} else {
		d.dropFrom(k)
	}
	return true
}

// last returns the newest open directory of a level and, unless empty, that name, or -1.
func (d *directories) last(level int, dir string) int {
	for k := len(d.open) - 1; k >= 0; k-- {
		if o := &d.open[k]; o.level == level && (dir == "" || o.path == dir || level == inner) {
			return k
		}
	}
	return -1
}

func (d *directories) dropFrom(k int) {
	if k >= 0 {
		d.open = d.open[:k]
	}
}

// forget handles a gap: directories may have changed in it.
func (d *directories) forget(i int) {
	d.open = d.open[:0]
	d.update(i)
}

// update finds out where lines are printed now: in the innermost directory, if each level is in one.
func (d *directories) update(i int) {
	d.now, d.maybe, d.at = "", nil, i
	if n := len(d.open); n > 0 {
		d.now, d.at = d.open[n-1].path, d.open[n-1].at
		if from := d.parallel(); from >= 0 {
			d.now, d.maybe = "", d.paths(from)
		}
	}
	if n := len(d.log); d.keep && n < maxMoves && (n == 0 || d.log[n-1].to != d.now) {
		d.log = append(d.log, move{i, d.now})
	}
}

// parallel returns the first directory that shares its level with another one, or -1.
func (d *directories) parallel() int {
	return slices.IndexFunc(d.open, func(o directory) bool {
		return slices.ContainsFunc(d.open, func(other directory) bool { return other.level == o.level && other.path != o.path })
	})
}

// paths returns the distinct names from the k-th on.
func (d *directories) paths(k int) (list []string) {
	for _, o := range d.open[k:] {
		if o.path != "" && !slices.Contains(list, o.path) {
			list = append(list, o.path)
		}
	}
	return list
}

// place puts the directory before a name that was printed there.
func (d *directories) place(f *Diagnostic) {
	if f.File == "" || isAbs(f.File) || len(d.open) == 0 {
		return
	}
	f.File, f.Directories = join(d.now, f.File), d.maybe
}

// when returns the directory of a line that was already read.
func (d *directories) when(at int) (dir string) {
	k, exact := slices.BinarySearchFunc(d.log, at, func(m move, at int) int { return m.at - at })
	if exact {
		k++
	}
	if k == 0 {
		return ""
	}
	return d.log[k-1].to
}

// isAbs also holds for what is no name of a file ("<stdin>"), and for what a shell would have to expand.
func isAbs(file string) bool {
	drive := len(file) > 2 && file[1] == ':' && (file[2] == '/' || file[2] == '\\')
	return drive || file != "" && strings.IndexByte("/\\<~", file[0]) >= 0
}

func join(dir, file string) string {
	if dir == "" {
		return file
	}
	return path.Join(dir, file)
}
