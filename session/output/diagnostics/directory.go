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
	openDirs    []directory // outermost first
	reportCount int         // lines that reported a directory

	current    string   // directory of the following lines; empty if unreported, or uncertain
	candidates []string // the possible directories, if current is uncertain
	reportLine int      // index of the line that reported current

	keepMoves bool // moves are recorded, for lookups after the last line
	moves     []directoryMove
}

// directory is a reported directory.
type directory struct {
	path       string // empty if make does not know it either
	level      int    // level of the make; otherLevel: another program
	reportLine int    // index of the line that reported it
}

// directoryMove records the directory of the lines from one on.
type directoryMove struct {
	line int
	path string
}

const (
	// otherLevel is the level of programs other than make.
	otherLevel = -1

	// maxDirectories bounds the directories open at a time, maxMoves the recorded moves.
	maxDirectories = 64
	maxMoves       = 10_000
)

// read handles a line and reports whether it concerns a directory. leftDir is a directory that was left but never entered.
func (d *directories) read(i int, line string) (leftDir string, isReport bool) {
	level, words, ok := parseReporter(line)
	if !ok {
		return "", false
	}
	dir, enters, ok := parseMove(words)
	switch {
	case level == otherLevel && announcesEnd(words):
		d.closeFrom(d.newestOpen(otherLevel, ""))
	case !ok:
		return "", false
	case enters:
		d.enter(directory{path: dir, level: level, reportLine: i})
	case !d.leave(level, dir) && len(d.openDirs) == 0:
		leftDir = dir
	}
	d.reportCount++
	d.updateCurrent(i)
	return leftDir, true
}

// enter opens a directory. It closes deeper ones, except those of a make that runs in parallel.
func (d *directories) enter(n directory) {
	if n.level == otherLevel {
		d.closeFrom(d.newestOpen(otherLevel, ""))
	} else if d.newestOpen(n.level, "") < 0 {
		d.closeFrom(slices.IndexFunc(d.openDirs, func(o directory) bool { return o.level > n.level }))
	}
	if n.path != "" && !isAbs(n.path) && len(d.openDirs) > 0 {
		n.path = joinPath(d.openDirs[len(d.openDirs)-1].path, n.path)
	}
	if len(d.openDirs) >= maxDirectories { // some programs never report leaving
		d.openDirs = d.openDirs[:0]
	}
	d.openDirs = append(d.openDirs, n)
}

// leave closes a directory and those entered from it, and reports whether it was open.
func (d *directories) leave(level int, dir string) bool {
	k := d.newestOpen(level, dir)
	if k < 0 {
		return false
	}
	if slices.ContainsFunc(d.openDirs, func(o directory) bool { return o.level == level && o != d.openDirs[k] }) {
		d.openDirs = slices.Delete(d.openDirs, k, k+1)
	} else {
		d.closeFrom(k)
	}
	return true
}

// newestOpen returns the index of the newest open directory of a level and, unless empty, that name, or -1.
func (d *directories) newestOpen(level int, dir string) int {
	for k := len(d.openDirs) - 1; k >= 0; k-- {
		if o := &d.openDirs[k]; o.level == level && (dir == "" || o.path == dir || level == otherLevel) {
			return k
		}
	}
	return -1
}

// closeFrom closes the open directories from index k on.
func (d *directories) closeFrom(k int) {
	if k >= 0 {
		d.openDirs = d.openDirs[:k]
	}
}

// closeAllAtGap closes all open directories, since the command may have left them in a gap of the output.
func (d *directories) closeAllAtGap(i int) {
	d.openDirs = d.openDirs[:0]
	d.updateCurrent(i)
}

// updateCurrent computes the directory of the following lines: the innermost one, if each level is in one directory.
func (d *directories) updateCurrent(i int) {
	d.current, d.candidates, d.reportLine = "", nil, i
	if n := len(d.openDirs); n > 0 {
		d.current, d.reportLine = d.openDirs[n-1].path, d.openDirs[n-1].reportLine
		if from := d.firstParallel(); from >= 0 {
			d.current, d.candidates = "", d.paths(from)
		}
	}
	if n := len(d.moves); d.keepMoves && n < maxMoves && (n == 0 || d.moves[n-1].path != d.current) {
		d.moves = append(d.moves, directoryMove{i, d.current})
	}
}

// firstParallel returns the index of the first directory that shares its level with another one, or -1.
func (d *directories) firstParallel() int {
	return slices.IndexFunc(d.openDirs, func(o directory) bool {
		return slices.ContainsFunc(d.openDirs, func(other directory) bool { return other.level == o.level && other.path != o.path })
	})
}

// paths returns the distinct names from the k-th on.
func (d *directories) paths(k int) (list []string) {
	for _, o := range d.openDirs[k:] {
		if o.path != "" && !slices.Contains(list, o.path) {
			list = append(list, o.path)
		}
	}
	return list
}

// prefixFile prefixes a diagnostic's file with the current directory.
func (d *directories) prefixFile(f *Diagnostic) {
	if f.File == "" || isAbs(f.File) || len(d.openDirs) == 0 {
		return
	}
	f.File, f.Directories = joinPath(d.current, f.File), d.candidates
}

// directoryAt returns the directory of a line that was already read.
func (d *directories) directoryAt(at int) (dir string) {
	k, exact := slices.BinarySearchFunc(d.moves, at, func(m directoryMove, at int) int { return m.line - at })
	if exact {
		k++
	}
	if k == 0 {
		return ""
	}
	return d.moves[k-1].path
}

// isAbs reports whether a file name is absolute. Texts that are no names ("<stdin>") and names for a shell (~) count as absolute.
func isAbs(file string) bool {
	drive := len(file) > 2 && file[1] == ':' && (file[2] == '/' || file[2] == '\\')
	return drive || file != "" && strings.IndexByte("/\\<~", file[0]) >= 0
}

func joinPath(dir, file string) string {
	if dir == "" {
		return file
	}
	return path.Join(dir, file)
}
