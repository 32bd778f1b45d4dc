package draft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// node is an entry of an upper directory, or a file of the root that an opaque directory hides.
type node struct {
	root       int
	rel        string // the root itself is ""
	up, low    stat   // up is zero if the entry is hidden
	kind       Kind   // empty if nothing changed
	conflict   string
	linkBroken bool
	opaque     bool // a directory that hides the root's, by its own mark or by a parent's
	hidden     bool // hidden by an opaque parent: deleted without an entry
	escaped    bool
	unknown    bool // has an attribute that neither the kernel nor longterm creates
	copiedUp   bool // a directory that the root had
	setID      bool
	during     []int
	tree       *treeState // of the root's directory that the change removes; nil if it conflicts
	links      []link     // names in the tree of files with several names
}

// isListed reports whether the node is a change that lists show.
func (n *node) isListed() bool { return n.kind != "" }

// scanner walks upper directories.
type scanner struct {
	ctx   context.Context
	d     *Draft
	stamp int64
	root  int
	nodes []node
	// visit receives the nodes instead of nodes, without a comparison: they have no kind.
	visit func(*node)
	found map[pathKey]bool // paths with an entry
	// unread lists directories whose entries cannot be read.
	unread []pathKey
}

// conflictIfUnreadable makes a node a conflict if the error is that its owner has no right to read it, and returns other errors.
func (s *scanner) conflictIfUnreadable(n *node, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if n.kind == "" {
		n.kind = Modified
	}
	n.conflict, n.unknown = fmt.Sprintf("cannot be read (mode %04o)", n.up.permission()), true
	if n.kind == Deleted {
		n.conflict = fmt.Sprintf("cannot be read in the root (mode %04o)", n.low.permission())
	}
	return nil
}

// scan walks all roots. The nodes are in the order of the walk: a directory, what it hides, its entries.
func (d *Draft) scan(ctx context.Context, visit func(*node)) (*scanner, error) {
	if err := d.loadSeen(); err != nil {
		return nil, err
	}
	s := &scanner{ctx: ctx, d: d, stamp: d.info.Stamp, visit: visit, found: map[pathKey]bool{}}
	for i, r := range d.Roots() {
		s.root = i
		if err := s.walkRoot(r); err != nil {
			return nil, fmt.Errorf("draft: %s: %w", r.Lower, err)
		}
	}
	if visit == nil {
		s.findBrokenHardLinks()
		s.spreadConflicts()
	}
	return s, nil
}

// add appends a node, or passes it to visit.
func (s *scanner) add(n node) {
	if s.visit != nil {
		s.visit(&n)
		return
	}
	s.nodes = append(s.nodes, n)
}

func (s *scanner) walkRoot(r Root) error {
	up, err := openRoot(r.Upper)
	if err != nil {
		return err
	}
	defer closeFD(up)
	low, err := openRoot(r.Lower)
	if err != nil {
		return err
	}
	defer closeFD(low)
	u, err := statAt(up, "")
	if err != nil {
		return err
	}
	l, err := statAt(low, "")
	if err != nil {
		return err
	}
	n := node{root: s.root, up: u, low: l}
	if err := s.compareDir(&n, up, low); err != nil {
		return err
	}
	s.checkDir(&n)
	s.add(n)
	return s.walkDir("", up, low, n)
}

// walkDir walks a directory. low is -1 if the root has no such directory.
func (s *scanner) walkDir(rel string, up, low int, parent node) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	all, err := names(up)
	if err != nil {
		return fmt.Errorf("%q: %w", rel, err)
	}
	if parent.opaque && low >= 0 && s.visit == nil {
		if err := s.addHiddenNames(rel, low, all); err != nil {
			return err
		}
	}
	for _, name := range all {
		if err := s.addEntry(join(rel, name), name, up, low, parent); err != nil {
			return err
		}
	}
	return nil
}

// addHiddenNames adds the names in the root's directory that an opaque directory deletes.
func (s *scanner) addHiddenNames(rel string, low int, shown []string) error {
	all, err := names(low)
	if err != nil {
		return fmt.Errorf("%q: %w", rel, err)
	}
	for _, name := range all {
		if _, ok := slices.BinarySearch(shown, name); ok {
			continue
		}
		l, err := statAt(low, name)
		if err != nil {
			return err
		}
		if !l.exists() {
			continue
		}
		n := node{root: s.root, rel: join(rel, name), low: l, kind: Deleted, hidden: true}
		if err := s.checkTree(&n, low, name); err != nil {
			return err
		}
		s.add(n)
	}
	return nil
}

// addEntry adds an entry of an upper directory, and what is beneath it. It reads again what a running session, or a process outside,
// has replaced at the time.
func (s *scanner) addEntry(rel, name string, up, low int, parent node) error {
	for try := 1; ; try++ {
		before := len(s.nodes)
		err := s.readEntry(rel, name, up, low, parent)
		if err == nil || !isNoDir(err) {
			return err
		}
		if try == maxReads {
			return errors.New(err.Error()) // final: directories above do not read again
		}
		s.nodes = s.nodes[:before]
	}
}

// maxReads bounds how often an entry that changes while it is read is read again.
const maxReads = 4

func (s *scanner) readEntry(rel, name string, up, low int, parent node) error {
	u, err := statAt(up, name)
	if err != nil || !u.exists() {
		return err
	}
	var l stat
	if low >= 0 {
		if l, err = statAt(low, name); err != nil {
			return err
		}
	}
	key := pathKey{s.root, rel}
	s.found[key] = true
	n := node{root: s.root, rel: rel, up: u, low: l}
	p := s.d.seen.getOrAdd(s.root, rel, l.version())
	n.during = p.During
	switch {
	case u.isWhiteout():
		if l.exists() {
			n.kind = Deleted
			err = s.checkTree(&n, low, name)
		}
	case u.isDir():
		return s.addDirectory(n, name, up, low, parent)
	default:
		if err = s.compareFile(&n, name, up, low, parent); err == nil && n.isListed() {
			err = s.checkFile(&n, name, up, low)
		}
	}
	if err != nil {
		return fmt.Errorf("%q: %w", rel, err)
	}
	if n.isListed() && n.conflict == "" && parent.conflict == replacedOutside {
		n.conflict = replacedOutside
	}
	s.add(n)
	return nil
}

// addDirectory adds a directory's entry and what is beneath it.
func (s *scanner) addDirectory(n node, name string, up, low int, parent node) error {
	before := len(s.nodes)
	err := s.readDirectory(n, name, up, low, parent)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// It is one change, without its entries.
	if n.kind = Added; n.low.isDir() {
		n.kind = Modified
	}
	s.nodes = s.nodes[:before]
	s.unread = append(s.unread, pathKey{n.root, n.rel})
	err = s.conflictIfUnreadable(&n, err)
	s.add(n)
	return err
}

// readDirectory works like directory without the handling of missing rights.
func (s *scanner) readDirectory(n node, name string, up, low int, parent node) error {
	u, err := openDir(up, name)
	if err != nil {
		return fmt.Errorf("%q: %w", n.rel, err)
	}
	defer closeFD(u)
	l := -1
	if n.low.isDir() {
		if l, err = openDir(low, name); err != nil {
			return fmt.Errorf("%q: %w", n.rel, err)
		}
		defer closeFD(l)
	}
	if err := s.compareDir(&n, u, l); err != nil {
		return fmt.Errorf("%q: %w", n.rel, err)
	}
	n.opaque = n.opaque || parent.opaque
	switch {
	case !n.low.exists():
		n.kind = Added
		if n.copiedUp && !n.opaque && n.conflict == "" {
			n.conflict = removedOutside
		}
		s.checkFileBase(&n)
	case !n.low.isDir():
		n.kind = Type
		err = s.checkTree(&n, low, name)
	default:
		s.checkDir(&n)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", n.rel, err)
	}
	if n.conflict == "" && parent.conflict == replacedOutside {
		n.conflict = replacedOutside
	}
	at := len(s.nodes)
	s.add(n)
	if err := s.walkDir(n.rel, u, l, n); err != nil {
		return err
	}
	if s.visit == nil && n.opaque && n.low.isDir() && slices.ContainsFunc(s.nodes[at+1:], func(c node) bool { return c.kind != "" }) {
		s.nodes[at].kind = Replaced // a commit of all its changes can remove the mark
	}
	return nil
}

// compareDir sets a directory's kind from its attributes and the root's directory.
func (s *scanner) compareDir(n *node, up, low int) error {
	if s.visit != nil {
		return nil
	}
	a, err := attributesAt(up, "", n.up, true)
	if err != nil {
		return err
	}
	n.opaque, n.copiedUp, n.escaped = a.opaque, a.copiedUp, a.escaped
	if a.unknown != "" {
		n.conflict, n.unknown = "has an unknown overlay attribute ("+a.unknown+")", true
	}
	if !n.low.isDir() {
		return nil
	}
	b, err := attributesAt(low, "", n.low, false)
	if err != nil {
		return err
	}
	if !sameOwner(n.up, n.low) || !sameAttributes(a, b) {
		n.kind = Meta
	}
	return nil
}

func sameOwner(u, l stat) bool {
	return u.permission() == l.permission() && u.UID == l.UID && u.GID == l.GID
}

// sameAttributes compares an entry's attributes with those of the root's file. In an overlay, programs do not see the root's
// attributes whose names are the overlay's, and copies lose them.
func sameAttributes(up, low attributes) bool {
	for k, v := range up.values {
		if w, ok := low.values[k]; !ok || v != w {
			return false
		}
	}
	for k := range low.values {
		if _, ok := up.values[k]; !ok && !strings.HasPrefix(k, overlayPrefix) {
			return false
		}
	}
	return true
}

// compareFile sets the kind of an entry that is no directory.
func (s *scanner) compareFile(n *node, name string, up, low int, parent node) error {
	if s.visit != nil {
		return nil
	}
	a, err := attributesAt(up, name, n.up, true)
	if err != nil {
		return s.conflictIfUnreadable(n, err)
	}
	n.escaped = a.escaped
	if a.unknown != "" {
		n.kind, n.conflict, n.unknown = Modified, "has an unknown overlay attribute ("+a.unknown+")", true
		return nil
	}
	if f := n.up.format(); f == unix.S_IFCHR || f == unix.S_IFBLK {
		n.kind, n.conflict, n.unknown = Added, "is a device", true
		return nil
	}
	_, capable := a.values[capabilityName]
	n.setID = n.up.isFile() && (n.up.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 || capable)
	switch {
	case !n.low.exists():
		n.kind = Added
		s.checkRemoved(n, a, parent)
		return nil
	case n.low.format() != n.up.format():
		n.kind = Type
		return nil
	}
	n.kind = Modified
	same, err := s.sameContent(n, name, up, low)
	if err != nil || !same {
		return err
	}
	b, err := attributesAt(low, name, n.low, false)
	if err != nil {
		return s.conflictIfUnreadable(n, err)
	}
	n.kind = Meta
	if n.up.Mtime == n.low.Mtime && sameOwner(n.up, n.low) && sameAttributes(a, b) {
		n.kind = ""
	}
	return nil
}

// sameContent compares an entry with the root's file, unless the same versions were found equal before.
func (s *scanner) sameContent(n *node, name string, up, low int) (bool, error) {
	key := [2]version{n.up.version(), n.low.version()}
	if s.d.equalContent[key] {
		return true, nil
	}
	same, err := sameContent(up, name, low, name, n.up, n.low)
	if errors.Is(err, fs.ErrPermission) { // the owner has no right to read: an equal size proves nothing
		return false, nil
	}
	if same && err == nil && n.up.isFile() {
		if s.d.equalContent == nil {
			s.d.equalContent = map[[2]version]bool{}
		}
		s.d.equalContent[key] = true
	}
	return same, err
}

// findBrokenHardLinks finds files that are hard links of each other in the upper directory, but separate files in the root.
func (s *scanner) findBrokenHardLinks() {
	groups := map[linkKey][]int{}
	for i := range s.nodes {
		if n := &s.nodes[i]; n.up.isFile() && n.up.Nlink > 1 {
			k := linkKey{n.root, n.up.Ino}
			groups[k] = append(groups[k], i)
		}
	}
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		for _, i := range g[1:] {
			if s.nodes[i].low.Ino == s.nodes[g[0]].low.Ino {
				continue
			}
			for _, j := range g {
				if n := &s.nodes[j]; n.kind == "" {
					n.kind = Meta
					s.checkTimes(n)
				}
			}
			break
		}
	}
}

// linkKey identifies a file with several names in an upper directory.
type linkKey struct {
	root int
	ino  uint64
}

// ChangesOf lists the changes during a command.
func (d *Draft) ChangesOf(ctx context.Context, command int) (Changes, error) {
	c, err := d.Changes(ctx)
	c.Changes = slices.DeleteFunc(c.Changes, func(ch Change) bool { return !slices.Contains(ch.During, command) })
	return c, err
}

// Changes lists the changes, sorted by path, and records the baselines of paths that it sees first. If a commit was interrupted, the
// state is StateCommitting, and the changes that the next commit completes do not conflict.
func (d *Draft) Changes(ctx context.Context) (Changes, error) {
	unlock, err := d.lock()
	if err != nil {
		return Changes{}, err
	}
	defer unlock()
	s, err := d.scan(ctx, nil)
	if err != nil {
		return Changes{}, err
	}
	if err := d.saveSeen(); err != nil {
		return Changes{}, err
	}
	p, err := d.loadPlan()
	if err != nil {
		return Changes{}, err
	}
	d.plannedNodes(p, s.nodes)
	c := d.list(s.nodes)
	if p != nil {
		c.State = StateCommitting
	}
	return c, nil
}

// Scan records that paths that changed since the last scan changed during a command. It returns their number. Call it at
// the end of each command.
func (d *Draft) Scan(ctx context.Context, command int) (int, error) {
	unlock, err := d.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	touched := 0
	err = d.scanCommand(ctx, command, func(pathKey) { touched++ })
	return touched, err
}

// scanCommand calls touched with the paths that changed, or left the upper directory, since the last scan, and records them.
func (d *Draft) scanCommand(ctx context.Context, command int, touched func(pathKey)) error {
	s, err := d.scan(ctx, func(n *node) {
		if n.rel == "" {
			return
		}
		p := d.seen.get(n.root, n.rel)
		now := n.up.version()
		if n.up.isWhiteout() { // all share one inode
			now = version{Mode: now.Mode}
		}
		if p.Upper == now {
			return
		}
		p.Upper = now
		if len(p.During) == 0 || p.During[len(p.During)-1] != command {
			p.During = append(p.During, command)
		}
		d.seen.touch(p)
		touched(pathKey{n.root, n.rel})
	})
	if err != nil {
		return err
	}
	for key, p := range d.seen.paths {
		if !s.found[key] && !slices.ContainsFunc(s.unread, func(d pathKey) bool { return d.root == key.root && beneath(key.path, d.path) }) {
			if p.Upper != (version{}) {
				touched(key)
			}
			d.seen.forget(key)
		}
	}
	return d.saveSeen()
}

// version returns what identifies the version of a file.
func (s stat) version() version {
	return version{Mode: s.Mode, Ino: s.Ino, Size: s.Size, Ctime: s.Ctime}
}

// loadSeen reads what earlier scans recorded, unless they are in memory and the file is unchanged.
func (d *Draft) loadSeen() error {
	path := filepath.Join(d.dir, seenName)
	st, err := statAt(unix.AT_FDCWD, path)
	if err != nil {
		return err
	}
	if d.seen != nil && d.seenVersion == st.version() {
		return nil
	}
	if !st.exists() {
		d.seen, d.seenVersion = newScanRecords(), version{}
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	defer f.Close()
	if d.seen, err = decodeScanRecords(f); err != nil {
		return fmt.Errorf("draft: %s: %w", path, err)
	}
	d.seenVersion = st.version()
	return nil
}

// saveSeen appends changed records. It rewrites the file if most of its lines are obsolete.
func (d *Draft) saveSeen() error {
	if len(d.seen.dirty) == 0 {
		return nil
	}
	path := filepath.Join(d.dir, seenName)
	all := d.seen.damaged || d.seen.lines > 2*len(d.seen.paths)+1000
	b, lines, err := d.seen.encode(all)
	if err != nil {
		return err
	}
	if all {
		err = atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content}, b)
		d.seen.lines, d.seen.damaged = 0, false
	} else {
		err = appendFile(path, b)
	}
	if err != nil {
		d.seen = nil
		return fmt.Errorf("draft: %w", err)
	}
	d.seen.lines += lines
	clear(d.seen.dirty)
	st, err := statAt(unix.AT_FDCWD, path)
	d.seenVersion = st.version()
	return err
}

func appendFile(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// databaseSuffixes end the names of files that belong to an SQLite database.
var databaseSuffixes = []string{"-wal", "-shm", "-journal"}

// databaseOf returns the database that a file belongs to by its name, and whether it is one of the database's other files.
func databaseOf(rel string) (base string, part bool) {
	for _, suffix := range databaseSuffixes {
		if b, ok := strings.CutSuffix(rel, suffix); ok && b != "" && !strings.HasSuffix(b, "/") {
			return b, true
		}
	}
	return rel, false
}
