package draft

import "fmt"

// Reasons of conflicts.
const (
	changedOutside  = "changed outside"
	removedOutside  = "removed outside"
	replacedOutside = "directory replaced outside"
	writtenDuring   = "written by the session during the commit"
)

// wasChangedOutside reports whether the root's file has changed since the draft's start, or since a scan first saw the path,
// other than by this draft's commits.
func (s *scanner) wasChangedOutside(rel string, l stat) bool {
	p := s.d.seen.get(s.root, rel)
	if p != nil && p.Ours && sameVersion(p.Lower, l) {
		return false
	}
	if p != nil && !sameVersion(p.Lower, l) {
		return true
	}
	return l.exists() && l.Ctime > s.stamp
}

// sameVersion reports whether a file is still the recorded one. The ctime and size of a directory change with its entries,
// so they do not count.
func sameVersion(v version, l stat) bool {
	if l.isDir() {
		return v.Ino == l.Ino && v.Mode == l.Mode
	}
	return v == l.version()
}

// checkTimes sets a conflict if the root's file was changed outside.
func (s *scanner) checkTimes(n *node) {
	if n.conflict == "" && s.wasChangedOutside(n.rel, n.low) {
		n.conflict = changedOutside
	}
}

// checkFileBase sets a conflict for an entry whose file in the root is missing, but was there.
func (s *scanner) checkFileBase(n *node) {
	p := s.d.seen.get(s.root, n.rel)
	if n.conflict == "" && p != nil && p.Lower.Mode != 0 && !n.low.exists() {
		n.conflict = removedOutside
	}
}

// checkRemoved sets a conflict for a file that is in the upper directory only. A copied-up file has an attribute,
// but a program in the draft may have renamed it since. So without a baseline, the time of the root's directory decides.
func (s *scanner) checkRemoved(n *node, a attributes, parent node) {
	s.checkFileBase(n)
	above := s.d.seen.get(s.root, parent.rel)
	ours := above != nil && above.Ours && above.Lower == parent.low.version()
	if n.conflict == "" && a.copiedUp && !parent.opaque && parent.low.isDir() && parent.low.Mtime > s.stamp && !ours {
		n.conflict = "may have been " + removedOutside
	}
}

// checkDir checks a directory that both sides have. Its entries are checked each on its own.
func (s *scanner) checkDir(n *node) {
	p := s.d.seen.get(s.root, n.rel)
	ours := p != nil && p.Ours && p.Lower.Ino == n.low.Ino
	switch {
	case n.conflict != "" || ours:
	case p != nil && (p.Lower.Ino != n.low.Ino || p.Lower.Mode&^0o7777 != n.low.Mode&^0o7777):
		n.conflict = replacedOutside
	case n.rel != "" && n.low.Btime > s.stamp:
		n.conflict = replacedOutside
	case n.kind == Meta && p != nil && p.Lower.Mode != n.low.Mode:
		n.conflict = changedOutside
	}
}

// checkFile checks a changed entry that is no directory.
func (s *scanner) checkFile(n *node, name string, up, low int) error {
	n.linkBroken = n.low.isFile() && n.low.Nlink > 1
	if n.kind == Type {
		return s.checkTree(n, low, name)
	}
	if n.low.exists() {
		s.checkTimes(n)
	}
	if low < 0 || n.conflict != "" {
		return nil
	}
	return s.checkDatabase(n, name, up, low)
}

// checkDatabase sets a conflict if a file of the same SQLite database was changed outside and has no entry: what a
// program has committed there may be in its write-ahead log only.
func (s *scanner) checkDatabase(n *node, name string, up, low int) error {
	base, part := databaseOf(name)
	if !part && !n.low.exists() {
		return nil
	}
	dir, _ := split(n.rel)
	others := []string{base}
	for _, suffix := range databaseSuffixes {
		others = append(others, base+suffix)
	}
	for _, other := range others {
		if other == name {
			continue
		}
		l, err := statAt(low, other)
		if err != nil {
			return err
		}
		if !l.isFile() || !s.wasChangedOutside(join(dir, other), l) {
			continue
		}
		if u, err := statAt(up, other); err != nil || u.exists() {
			return err // has an entry; databases decides
		}
		n.conflict = fmt.Sprintf("%s (%q of the same database)", changedOutside, other)
		return nil
	}
	return nil
}

// spreadConflicts marks all changed files of an SQLite database as conflicts if one of them is.
func (s *scanner) spreadConflicts() {
	reason := map[pathKey]string{}
	parts := map[pathKey]bool{}
	for i := range s.nodes {
		n := &s.nodes[i]
		if !n.isListed() {
			continue
		}
		base, part := databaseOf(n.rel)
		key := pathKey{n.root, base}
		parts[key] = parts[key] || part
		if n.conflict != "" {
			reason[key] = fmt.Sprintf("%q of the same database conflicts", n.rel)
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		base, _ := databaseOf(n.rel)
		key := pathKey{n.root, base}
		if n.isListed() && n.conflict == "" && parts[key] {
			n.conflict = reason[key]
		}
	}
}

// checkTree checks the root's file or directory that a change removes, with all in it.
func (s *scanner) checkTree(n *node, low int, name string) error {
	if s.visit != nil || n.conflict != "" {
		return nil
	}
	var tree treeState
	var touched *string
	_, err := walkTree(s.ctx, low, name, "", n.low, func(rel string, l stat) bool {
		tree.add(rel, l, false)
		if rel != "" && l.isFile() && l.Nlink > 1 {
			n.links = append(n.links, link{join(n.rel, rel), l})
		}
		path := n.rel
		if rel != "" {
			path = join(n.rel, rel)
		}
		p := s.d.seen.get(s.root, path)
		ours := p != nil && p.Ours && p.Lower == l.version()
		if s.wasChangedOutside(path, l) || l.isDir() && !ours && l.Ctime > s.stamp {
			touched = &rel
		}
		return touched == nil
	})
	switch {
	case err != nil:
		return s.conflictIfUnreadable(n, err)
	case touched == nil:
		if n.low.isDir() {
			n.tree = &tree
		}
	case *touched == "":
		n.conflict = changedOutside
	default:
		n.conflict = fmt.Sprintf("%s (%q)", changedOutside, *touched)
	}
	return nil
}
