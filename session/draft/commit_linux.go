package draft

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// errKilled is returned by a test's hook to stop a commit like a crash: nothing is cleaned up.
var errKilled = errors.New("draft: killed")

// Commit applies changes to the roots, after completing an interrupted commit. It returns a *ConflictError, and writes nothing,
// if a selected path conflicts. It returns ErrMounted if the session is running, except in a dry run: a mounted overlay records
// no deletions in directories that only the upper directory has. If another process changes a selected path during the commit,
// Commit stops; the error has the number of applied changes.
func (d *Draft) Commit(ctx context.Context, o CommitOptions) (res Result, err error) {
	unlock, err := d.lock()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	if !o.DryRun && d.isMounted() {
		return Result{}, ErrMounted
	}
	s, err := d.scan(ctx, nil)
	if err != nil {
		return Result{}, err
	}
	if err := d.saveSeen(); err != nil {
		return Result{}, err
	}
	p, err := d.loadPlan()
	if err != nil {
		return res, err
	}
	planned := d.plannedNodes(p, s.nodes)
	if res.ID = d.list(s.nodes).ID; o.Expect != "" && o.Expect != res.ID {
		return res, ErrChanged
	}
	if p != nil && !o.DryRun {
		res.Resumed = true
		if err := d.apply(ctx, p, s.nodes, planned, o, &res); err != nil {
			return res, err
		}
		if s, err = d.scan(ctx, nil); err != nil {
			return res, err
		}
	}
	chosen, err := d.choose(s.nodes, o.Paths, true)
	if err != nil && !(res.Resumed && errors.Is(err, ErrNoChange)) {
		return res, err
	}
	if err := d.checkCommittable(chosen, o); err != nil {
		return res, err
	}
	res.Empty = len(chosen) == len(listedNodes(s.nodes))
	if o.DryRun {
		for _, n := range chosen {
			res.add(d, n, false)
		}
		return res, nil
	}
	if len(chosen) == 0 {
		return res, nil
	}
	if p, err = d.newPlan(ctx, s.nodes, chosen); err != nil {
		return res, err
	}
	return res, d.apply(ctx, p, s.nodes, chosen, o, &res)
}

// checkCommittable returns a *ConflictError for the changes that cannot be committed, or nil.
func (d *Draft) checkCommittable(chosen []*node, o CommitOptions) error {
	var e ConflictError
	for _, n := range chosen {
		sameBits := n.kind == Meta && n.up.permission() == n.low.permission()
		switch {
		case n.conflict != "" && (!o.Overwrite || n.unknown):
		case n.setID && !sameBits && !o.AllowSetID:
			n.conflict = "has setuid or setgid bits or capabilities"
		default:
			continue
		}
		e.Changes = append(e.Changes, d.change(n))
	}
	if len(e.Changes) > 0 {
		return &e
	}
	return nil
}

// add counts an applied change.
func (r *Result) add(d *Draft, n *node, copied bool) {
	r.Paths = append(r.Paths, AppliedChange{d.change(n), copied && n.kind != Deleted && !n.up.isDir()})
	if n.kind == Deleted {
		r.Deleted++
		return
	}
	r.Files++
	if n.up.isFile() {
		r.Bytes += n.up.Size
	}
}

// newPlan writes the plan of a commit.
func (d *Draft) newPlan(ctx context.Context, nodes []node, chosen []*node) (*plan, error) {
	p := &plan{Token: rand.Text()[:12], steps: map[pathKey]planStep{}}
	names := map[linkKey]uint32{}
	for _, n := range chosen {
		tree, err := d.treeOf(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("draft: %q: %w", n.rel, err)
		}
		p.steps[pathKey{n.root, n.rel}] = planStep{
			Root: n.root, Path: rawPath(n.rel), Kind: n.kind, Upper: plannedUpper(n.up), Lower: n.low.version(), Tree: tree,
		}
		if n.up.isFile() && n.up.Nlink > 1 {
			names[linkKey{n.root, n.up.Ino}]++
		}
	}
	for _, seen := range d.seen.paths { // names that a commit has renamed before an error
		if k := (linkKey{seen.Root, seen.Lower.Ino}); seen.Ours && names[k] > 0 {
			names[k]++
		}
	}
	for i := range nodes {
		n := &nodes[i]
		if k := (linkKey{n.root, n.up.Ino}); names[k] > 0 && names[k] < n.up.Nlink {
			p.Copy = append(p.Copy, linkKeyJSON{n.root, n.up.Ino})
			delete(names, k)
		}
	}
	p.Linked, p.Modes = linkedFiles(nodes, chosen), dirsWithoutPermission(nodes, chosen)
	b, err := p.encode()
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(filepath.Join(d.dir, planName), atomicfile.Options{Sync: atomicfile.ContentAndName}, b); err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	return p, nil
}

// plannedUpper returns the version of an entry in a plan.
func plannedUpper(u stat) version {
	if u.isDir() || u.isWhiteout() {
		return version{Mode: u.Mode & unix.S_IFMT}
	}
	return version{Mode: u.Mode, Ino: u.Ino, Size: u.Size, Ctime: u.Mtime}
}

// loadPlan returns the plan of an interrupted commit, or nil.
func (d *Draft) loadPlan() (*plan, error) {
	path := filepath.Join(d.dir, planName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	defer f.Close()
	p, err := decodePlan(f)
	if err != nil {
		return nil, fmt.Errorf("draft: %s: %w", path, err)
	}
	return p, nil
}

// plannedNodes returns the nodes that an interrupted commit has still to apply: those of its plan whose entries did not change
// since, or none without a plan. It removes their conflicts, since the commit itself changed the root; apply compares with the plan instead.
func (d *Draft) plannedNodes(p *plan, nodes []node) (remaining []*node) {
	if p == nil {
		return nil
	}
	p.applyModes(nodes)
	for i := range nodes {
		n := &nodes[i]
		step, ok := p.steps[pathKey{n.root, n.rel}]
		if !ok || step.Upper != plannedUpper(n.up) {
			continue
		}
		n.conflict, n.kind = "", step.Kind
		remaining = append(remaining, n)
	}
	return remaining
}

// apply runs a plan. After an error, other than a crash, it removes the plan: what was applied is recorded, so that the next
// commit starts with a new one.
func (d *Draft) apply(ctx context.Context, p *plan, nodes []node, chosen []*node, o CommitOptions, res *Result) (err error) {
	before := d.info.State
	if before == StateCommitting { // interrupted
		before = StateEnded
	}
	d.info.State = StateCommitting
	if err := d.writeInfo(); err != nil {
		return err
	}
	a := &applier{ctx: ctx, d: d, plan: p, res: res, chosenLinks: map[linkKey][]*node{}, temps: map[pathKey]bool{}, keepTemps: map[string]bool{}, written: map[pathKey]version{}, finished: map[pathKey]bool{}}
	err = a.run(nodes, chosen)
	if errors.Is(err, errKilled) {
		a.close()
		return err
	}
	if err != nil {
		err = errors.Join(err, a.removeTemporary())
	}
	err = errors.Join(err, a.restoreModes(), a.record())
	a.close()
	if e := os.Remove(filepath.Join(d.dir, planName)); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	d.info.State = before
	err = errors.Join(err, d.saveSeen(), d.writeInfo())
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		conflict.Applied = len(res.Paths)
		return conflict
	}
	if err != nil {
		return fmt.Errorf("draft: stopped after %d changes: %w", len(res.Paths), err)
	}
	return nil
}

// applier applies the changes of a plan.
type applier struct {
	ctx  context.Context
	d    *Draft
	plan *plan
	res  *Result

	roots        []rootDirs
	keptOpaque   map[pathKey]bool    // opaque directories that stay as they are: their entries are copied and stay, too
	chosenLinks  map[linkKey][]*node // chosen names of files with several names, by file
	pending      []*copySet          // temporary files that are not yet at their places
	pendingBytes int64               // size of the files in pending
	temps        map[pathKey]bool    // directories of the roots with temporary files
	keepTemps    map[string]bool     // temporary names that are not removed
	tempCount    int                 // number of temporary files so far
	dirsToFinish []*node             // whose attributes are set at the end
	prune        []*node             // applied nodes whose upper entries are removed at the end
	// written holds the versions of the root's files right after this commit has changed them; zero for a removed one.
	written    map[pathKey]version
	finished   map[pathKey]bool       // directories with their final attributes
	linked     map[linkKey]linkedFile // files with several names, of the plan; built on first use
	otherNames []pathKey              // other names of these files, in changes that are not chosen
}

// rootDirs holds the open directories of a root, and caches the parent that was used last.
type rootDirs struct {
	up, low     int    // descriptors of the upper and the root's directory
	copyAll     bool   // renames from the upper directory are impossible
	rel         string // path of the cached parent
	upAt, lowAt int    // descriptors of the cached parent; -1: none
}

// run applies the chosen nodes in their order, so parents come before their entries.
func (a *applier) run(nodes []node, chosen []*node) error {
	if err := a.open(); err != nil {
		return err
	}
	if err := a.addOwnerPermissions(); err != nil {
		return err
	}
	if a.res.Resumed {
		if err := a.sweep(); err != nil {
			return err
		}
	}
	a.indexNodes(nodes, chosen)
	for i := 0; i < len(chosen); i++ {
		n := chosen[i]
		var err error
		switch {
		case n.kind == Deleted:
			err = a.remove(n)
		case n.up.isDir():
			if err = a.makeDir(n); err != nil {
				break
			}
			for i+1 < len(chosen) && chosen[i+1].hidden && err == nil {
				i++
				err = a.remove(chosen[i])
			}
			if err == nil && a.movesEach(n) {
				err = a.clearOpaque(n)
			}
		default:
			err = a.applyFile(n)
		}
		if err != nil {
			return a.wrapErr(n, err)
		}
	}
	if err := a.flush(); err != nil {
		return err
	}
	for _, n := range slices.Backward(a.dirsToFinish) {
		if err := a.finishDir(n); err != nil {
			return a.wrapErr(n, err)
		}
	}
	return a.finish(chosen)
}

// wrapErr adds a node's path to an error.
func (a *applier) wrapErr(n *node, err error) error {
	if _, ok := errors.AsType[*ConflictError](err); ok {
		return err
	}
	return fmt.Errorf("%q: %w", n.rel, err)
}

// open opens the roots. The upper directories are synced first, so that a rename never makes an empty file durable.
func (a *applier) open() error {
	for _, r := range a.d.Roots() {
		up, err := openRoot(r.Upper)
		if err != nil {
			return err
		}
		low, err := openRoot(r.Lower)
		if err != nil {
			closeFD(up)
			return err
		}
		a.roots = append(a.roots, rootDirs{up: up, low: low, upAt: -1, lowAt: -1})
		u, err := statAt(up, "")
		if err != nil {
			return err
		}
		l, err := statAt(low, "")
		if err != nil {
			return err
		}
		a.roots[len(a.roots)-1].copyAll = u.Dev != l.Dev || u.Mount != l.Mount || a.d.alwaysCopy
		if err := unix.Syncfs(up); err != nil {
			return &os.PathError{Op: "syncfs", Path: r.Upper, Err: err}
		}
	}
	return nil
}

// close closes all directories.
func (a *applier) close() {
	for _, r := range a.roots {
		for _, fd := range []int{r.up, r.low, r.upAt, r.lowAt} {
			closeFD(fd)
		}
	}
	a.roots = nil
}

// parents returns the directories on both sides that hold a node, and its name. The upper one is -1 for a hidden node.
func (a *applier) parents(n *node) (up, low int, name string, err error) {
	r := &a.roots[n.root]
	dir, name := split(n.rel)
	if r.lowAt >= 0 && r.rel == dir {
		return r.upAt, r.lowAt, name, nil
	}
	closeFD(r.upAt)
	closeFD(r.lowAt)
	r.upAt, r.lowAt = -1, -1
	if up, err = openRel(r.up, dir); err != nil {
		return -1, -1, "", err
	}
	if low, err = openRel(r.low, dir); err != nil {
		closeFD(up)
		return -1, -1, "", err
	}
	r.rel, r.upAt, r.lowAt = dir, up, low
	return up, low, name, nil
}

// indexNodes fills keptOpaque, chosenLinks and otherNames. Opaque directories that are not chosen but hold chosen entries are
// kept. Their mark cannot be removed, since what they hide would appear in the draft; so the entries stay, too.
func (a *applier) indexNodes(nodes []node, chosen []*node) {
	in := map[pathKey]bool{}
	for _, n := range chosen {
		in[pathKey{n.root, n.rel}] = true
		if n.up.isFile() && n.up.Nlink > 1 {
			k := linkKey{n.root, n.up.Ino}
			a.chosenLinks[k] = append(a.chosenLinks[k], n)
		}
	}
	a.keptOpaque = map[pathKey]bool{}
	for i := range nodes {
		n := &nodes[i]
		if n.opaque && n.low.isDir() && !in[pathKey{n.root, n.rel}] {
			a.keptOpaque[pathKey{n.root, n.rel}] = true
		}
		if in[pathKey{n.root, n.rel}] || n.conflict != "" && !a.res.Resumed {
			continue
		}
		for _, l := range n.linkedNames() {
			if a.changesCtime(n.root, l.stat) {
				a.otherNames = append(a.otherNames, pathKey{n.root, l.rel})
			}
		}
	}
}

// mustKeep reports whether a node's entry must stay in the upper directory.
func (a *applier) mustKeep(n *node) bool {
	if len(a.keptOpaque) > 0 {
		for dir, _ := split(n.rel); ; dir, _ = split(dir) {
			if a.keptOpaque[pathKey{n.root, dir}] {
				return true
			}
			if dir == "" {
				break
			}
		}
	}
	return false
}

// movesEach reports whether entries leave the upper directory one by one.
func (a *applier) movesEach(n *node) bool { return !a.roots[n.root].copyAll && !a.mustKeep(n) }

// step runs the test hook and checks the context before each change of a file.
func (a *applier) step(op string, n *node) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if a.d.hook != nil {
		return a.d.hook(op, n.rel)
	}
	return nil
}

// count counts a node as applied.
func (a *applier) count(n *node, copied bool) {
	a.res.add(a.d, n, copied)
}

// recordWritten records the version of a root's file right after this commit has put an entry, or a copy of it, there.
// A file that another process has changed since is not recorded, so it conflicts with a later change in the draft.
func (a *applier) recordWritten(n *node, low int, name string) error {
	l, err := statAt(low, name)
	if err != nil || l.format() != n.up.format() || l.Size != n.up.Size || l.Mtime != n.up.Mtime || l.permission() != n.up.permission() {
		return err
	}
	v := l.version()
	a.written[pathKey{n.root, n.rel}] = v
	if n.up.isFile() && n.up.Nlink > 1 { // the other names have its ctime, too
		for _, m := range a.chosenLinks[linkKey{n.root, n.up.Ino}] {
			if key := (pathKey{m.root, m.rel}); a.written[key].Ino == v.Ino {
				a.written[key] = v
			}
		}
	}
	return nil
}

// recordWrittenDir records the version of a directory that this commit has created or given its attributes.
func (a *applier) recordWrittenDir(n *node, low int, name string) error {
	l, err := statAt(low, name)
	if err == nil && l.isDir() {
		a.written[pathKey{n.root, n.rel}] = l.version()
	}
	return err
}

// recordRemoved records that this commit has removed the root's file.
func (a *applier) recordRemoved(n *node) { a.written[pathKey{n.root, n.rel}] = version{} }

// verify compares the root's file with the plan. It reports whether the change was applied before a crash. A file that another
// process has changed is a conflict.
func (a *applier) verify(n *node, up, low int, name string) (l stat, done bool, err error) {
	if l, err = statAt(low, name); err != nil {
		return l, false, err
	}
	before := a.plan.steps[pathKey{n.root, n.rel}].Lower
	switch {
	case before == l.version() || before.Ino == l.Ino && a.changesCtime(n.root, l):
		return l, false, nil
	case before.Mode&unix.S_IFMT == unix.S_IFDIR && l.isDir() && before.Ino == l.Ino:
		return l, false, nil
	case n.kind == Deleted && !l.exists():
		return l, true, nil
	case n.up.isDir() && l.isDir():
		return l, false, nil
	case l.exists() && !n.up.isDir() && n.kind != Deleted && l.format() == n.up.format():
		if l.Ino == n.up.Ino && l.Dev == n.up.Dev {
			return l, true, nil
		}
		done, err = sameFile(up, low, name, n.up, l)
		if done || err != nil {
			return l, done, err
		}
	}
	reason := changedOutside
	if !l.exists() {
		reason = removedOutside
	}
	reason += " during the commit"
	n.conflict = reason
	return l, false, &ConflictError{Changes: []Change{a.d.change(n)}}
}

// sameFile reports whether an entry and the root's file are equal in content and metadata.
func sameFile(up, low int, name string, u, l stat) (bool, error) {
	if !sameOwner(u, l) || u.Mtime != l.Mtime {
		return false, nil
	}
	same, err := sameContent(up, name, low, name, u, l)
	if err != nil || !same {
		return false, err
	}
	x, err := attributesAt(up, name, u, true)
	if err != nil {
		return false, err
	}
	y, err := attributesAt(low, name, l, false)
	return err == nil && sameAttributes(x, y), err
}

// newTempName returns a new name for a temporary file beside a node's place.
func (a *applier) newTempName(n *node) string {
	dir, _ := split(n.rel)
	a.temps[pathKey{n.root, dir}] = true
	a.tempCount++
	return fmt.Sprintf("%s%d", a.tempPrefix(), a.tempCount)
}

// tempPrefix returns the start of the names of this commit's temporary files.
func (a *applier) tempPrefix() string { return ".longterm-" + a.plan.Token + "-" }

// changesCtime reports whether this commit changes the ctime of a file by removing another of its names, and nothing
// else has changed.
func (a *applier) changesCtime(root int, s stat) bool {
	if len(a.plan.Linked) == 0 || !s.isFile() {
		return false
	}
	if a.linked == nil {
		a.linked = map[linkKey]linkedFile{}
		for _, f := range a.plan.Linked {
			a.linked[linkKey{f.Root, f.Ino}] = f
		}
	}
	f, ok := a.linked[linkKey{root, s.Ino}]
	return ok && f == linkedFile{root, s.Ino, s.Mode, s.Size, s.Mtime}
}

// recordLinks notes the versions of files with changes that were not chosen, if this commit has removed another name of the file.
func (a *applier) recordLinks() error {
	for _, key := range a.otherNames {
		dir, name := split(key.path)
		low, err := openRel(a.roots[key.root].low, dir)
		if isNoDir(err) {
			continue
		}
		if err != nil {
			return err
		}
		l, err := statAt(low, name)
		closeFD(low)
		if err != nil {
			return err
		}
		if a.changesCtime(key.root, l) {
			a.d.seen.setOurs(key.root, key.path, l.version())
		}
	}
	return nil
}

// sweep removes temporary files that a crash has left.
func (a *applier) sweep() error {
	dirs := map[pathKey]bool{}
	for key := range a.plan.steps {
		dir, _ := split(key.path)
		dirs[pathKey{key.root, dir}] = true
	}
	for key := range dirs {
		if err := a.sweepDir(key, true); err != nil {
			return err
		}
	}
	return nil
}

// record notes the root's files that this commit has changed as this draft's, so that a later change in the draft does not
// conflict with them. Directories whose entries it has changed have the versions of the end.
func (a *applier) record() error {
	dirs := maps.Clone(a.temps) // temporary files change the times of their directories
	for key, v := range a.written {
		if v.Mode != 0 || a.d.seen.get(key.root, key.path) != nil {
			a.d.seen.setOurs(key.root, key.path, v)
		}
		dir, _ := split(key.path)
		dirs[pathKey{key.root, dir}] = true
	}
	for key := range dirs {
		low, err := openRel(a.roots[key.root].low, key.path)
		if isNoDir(err) {
			continue
		}
		if err != nil {
			return err
		}
		l, err := statAt(low, "")
		closeFD(low)
		if err != nil {
			return err
		}
		if v, ok := a.written[key]; !ok || v.Ino == l.Ino {
			a.d.seen.setOurs(key.root, key.path, l.version())
		}
	}
	return a.recordLinks()
}
