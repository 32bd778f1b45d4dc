package diagnostics

import (
	"path"
	"slices"
	"strings"
)

// directories are those that make and its like tell that they work in: what compilers print below them names files
// from there.
//
// A make has a level, that of one which a make started is one higher, and tells of each directory when it enters and
// when it leaves it. Where several makes of a level are in different ones at a time (make -j without -O), nothing says
// which one printed a line. Other programs tell of one directory only, most of them not of its end.
type directories struct {
	open []directory // outermost first
	told int         // lines that told of one

	now   string   // where what comes is printed; empty: not told, or not known which of maybe
	maybe []string // it is one of these
	at    int      // index of the line that told of it

	keep bool // moves, for what is read later
	log  []move
}

type directory struct {
	path  string // empty: make does not know it either
	level int    // of a make; inner: another program's
	at    int    // index of the line that told of it
}

// move is where lines are printed from one on.
type move struct {
	at int
	to string
}

const (
	inner = -1

	// Bounds: of directories that are open at a time, and of moves.
	maxDirectories = 64
	maxMoves       = 10_000
)

// read takes a line; false: it tells of no directory. left is one that was left and never entered.
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
	d.told++
	d.moved(i)
	return left, true
}

// enter opens a directory. What is deeper than it is over, but for what others of its level have begun.
func (d *directories) enter(n directory) {
	if n.level == inner {
		d.dropFrom(d.last(inner, ""))
	} else if d.last(n.level, "") < 0 {
		d.dropFrom(slices.IndexFunc(d.open, func(o directory) bool { return o.level > n.level }))
	}
	if n.path != "" && !isAbs(n.path) && len(d.open) > 0 {
		n.path = join(d.open[len(d.open)-1].path, n.path)
	}
	if len(d.open) >= maxDirectories { // their ends are not told
		d.open = d.open[:0]
	}
	d.open = append(d.open, n)
}

// leave closes a directory, with what was entered from it; false: it was not open.
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

// last is the newest of a level that is open, and of that name unless it is empty; -1: there is none.
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

// forget is for a gap: what was entered and left in it is not known.
func (d *directories) forget(i int) {
	d.open = d.open[:0]
	d.moved(i)
}

// moved finds out where lines are printed now: in the innermost directory, if each level is in one.
func (d *directories) moved(i int) {
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

// parallel is the first of those that are not the only one of their level; -1: there is none.
func (d *directories) parallel() int {
	return slices.IndexFunc(d.open, func(o directory) bool {
		return slices.ContainsFunc(d.open, func(other directory) bool { return other.level == o.level && other.path != o.path })
	})
}

// paths are the names from the k-th on, each once.
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

// when is where a line was printed that has been read.
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
