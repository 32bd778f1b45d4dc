package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/sys"
)

// Place is where a sandboxed program starts. All paths are absolute.
type Place struct {
	Home, Cwd string
	// Own are longterm's own directories: configuration, state, runtime. They are hidden, whatever the profile
	// contains.
	Own []string
	// Needed are paths that the session itself needs in spite of that: scripts that are read into its shell.
	Needed []string
	// Kept are paths where the session's shell leaves what it knows, written to.
	Kept []string
	// Runtime is the directory of the user's sockets.
	Runtime string
	// Draft are directories to be written as drafts. If there is one, the profile's own writable directories become
	// drafts too, except $CWD outside of all of them.
	Draft []string
}

// Rules are a profile at a place: absolute paths without links that exist. Later ones are inside of earlier ones.
type Rules struct {
	Profile string   `json:"profile"`
	Read    []string `json:"read"`
	Write   []string `json:"write,omitempty"`
	Drafts  []Draft  `json:"drafts,omitempty"`  // entries of Write whose changes are kept apart
	Locks   []string `json:"locks,omitempty"`   // files that are locked while the drafts are mounted
	Hide    []string `json:"hide,omitempty"`    // is not there
	Protect []string `json:"protect,omitempty"` // inside of Write, yet not writable
	Needed  []string `json:"needed,omitempty"`  // read, though inside of Hide
	Kept    []string `json:"kept,omitempty"`    // written, though inside of Hide
	Tmp     bool     `json:"tmp,omitempty"`

	Network     Network  `json:"network"`
	Hosts       []string `json:"hosts,omitempty"`
	Ask         bool     `json:"ask,omitempty"` // differences need approval
	UnixSockets bool     `json:"unix_sockets,omitempty"`
	Commits     bool     `json:"commits,omitempty"`
	Programs    []string `json:"programs,omitempty"`
	Unsearched  []string `json:"unsearched,omitempty"` // directories below which nothing was looked for that would be in Protect
	Linked      []string `json:"linked,omitempty"`     // files of Protect and start files that have other names, by which they may be written
	Home        string   `json:"home"`
	Cwd         string   `json:"cwd"`
}

// PathError rejects a path of a profile.
type PathError struct{ Key, Path, Why, What string }

func (e *PathError) Error() string { return fmt.Sprintf("%s %s: %s", e.Key, e.Path, e.Why) }

// Hint returns the next step.
func (e *PathError) Hint() string { return e.What }

// Resolve makes rules of a profile.
func (p *Profile) Resolve(at Place) (*Rules, error) {
	r := &Rules{
		Profile: p.Name, Tmp: p.Tmp, Network: p.Network, Hosts: p.Hosts, Ask: p.OnDiffer == "ask",
		UnixSockets: p.UnixSockets, Commits: p.Git == "commit",
	}
	var err error
	if r.Home, err = filepath.EvalSymlinks(at.Home); err != nil {
		r.Home = filepath.Clean(at.Home)
	}
	if r.Cwd, err = filepath.EvalSymlinks(at.Cwd); err != nil {
		return nil, &PathError{"directory", at.Cwd, errText(err), "use another one with --cwd"}
	}
	for _, list := range []struct {
		key  string
		from []string
		to   *[]string
	}{{"read", p.Read, &r.Read}, {"write", p.Write, &r.Write}, {"hide", p.Hide, &r.Hide}} {
		for _, path := range list.from {
			found, err := r.expand(list.key, path)
			if err != nil {
				return nil, err
			}
			if list.key == "write" && len(at.Draft) > 0 && strings.HasPrefix(strings.TrimPrefix(path, "?"), "$CWD") {
				continue // the drafts are written instead
			}
			*list.to = append(*list.to, found...)
		}
	}
	r.Programs = nil
	for _, path := range p.Programs { // by the name that is written, and by the file's
		found, err := r.expand("programs", "?"+strings.TrimPrefix(path, "?"))
		if err != nil {
			return nil, err
		}
		r.Programs = append(append(r.Programs, strings.TrimPrefix(path, "?")), found...)
	}
	for _, path := range append(slices.Clone(at.Own), r.socketDirs(at)...) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			r.Hide = append(r.Hide, real)
		}
	}
	for _, n := range []struct {
		from []string
		to   *[]string
	}{{at.Needed, &r.Needed}, {at.Kept, &r.Kept}} {
		for _, path := range n.from {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				*n.to = append(*n.to, real)
			}
		}
	}
	if err := r.makeDrafts(at.Draft); err != nil {
		return nil, err
	}
	if err := r.refuse(); err != nil {
		return nil, err
	}
	r.findProtected()
	r.findLinked()
	for _, list := range []*[]string{&r.Read, &r.Write, &r.Hide, &r.Protect, &r.Needed, &r.Kept, &r.Programs} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r, nil
}

// socketDirs returns the directories with sockets of other programs, which no sandbox restricts: the user's and the
// system's.
func (r *Rules) socketDirs(at Place) []string {
	dirs := []string{"/run", at.Runtime, "/tmp/.X11-unix", "/tmp/.ICE-unix", filepath.Join(r.Home, ".docker/run"), filepath.Join(r.Home, ".docker/desktop"),
		filepath.Join(r.Home, ".colima"), "/var/lib/docker", "/var/lib/containerd"}
	return slices.DeleteFunc(dirs, func(d string) bool { return d == "" })
}

// expand returns a path of a profile, with the matches of its globs.
func (r *Rules) expand(key, written string) ([]string, error) {
	path, optional := strings.CutPrefix(written, "?")
	inside := ""
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path, inside = r.Home+path[1:], r.Home
	case path == "$CWD" || strings.HasPrefix(path, "$CWD/"):
		path, inside = r.Cwd+path[len("$CWD"):], r.Cwd
	}
	path = filepath.Clean(path)
	found := []string{path}
	if strings.ContainsAny(path, "*?[") {
		if _, err := os.Lstat(path); err != nil { // no file of that very name
			if found, err = filepath.Glob(path); err != nil {
				return nil, &PathError{key, written, "this is no pattern", "a glob has *, ? and [a-z]"}
			}
			if len(found) == 0 && !optional {
				return nil, &PathError{key, written, "nothing is there that it matches", "put ? before it if it may be missing"}
			}
		}
	}
	var all []string
	for _, f := range found {
		real, err := filepath.EvalSymlinks(f)
		switch {
		case errors.Is(err, fs.ErrNotExist) && optional:
			continue
		case err != nil:
			return nil, &PathError{key, written, errText(err), "make it, or put ? before it if it may be missing"}
		case inside != "" && key != "hide" && !Inside(real, inside):
			return nil, &PathError{key, written, "it is a link that leads out, to " + real,
				"name " + real + " itself if intended: any program that can write there could create such a link"}
		}
		all = append(all, real)
	}
	return all, nil
}

func errText(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Inside reports whether path is dir or below it. Both are absolute and clean.
func Inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// refuse rejects what no profile may grant.
func (r *Rules) refuse() error {
	for _, w := range r.Write {
		what := "start it in a separate directory, or list writable directories"
		if r.isDraft(w) {
			if err := r.refuseDraft(w); err != nil {
				return err
			}
			continue
		}
		if Inside(r.Home, w) {
			return &PathError{"write", w, "this is the home directory, or above: start files of shells could be made in it", what}
		}
		for _, no := range []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/proc", "/sys", "/dev", "/run", "/var/spool/cron"} {
			if (no == "/proc" || no == "/sys" || no == "/dev" || no == "/run") && Inside(w, no) && !(no == "/dev" && Inside(w, "/dev/shm")) || Inside(no, w) {
				return &PathError{"write", w, "this is the system's own, or above", what}
			}
		}
		for _, f := range startFiles {
			if Inside(w, filepath.Join(r.Home, f)) {
				return &PathError{"write", w, "what is in it is run by shells and tools outside of the sandbox", what}
			}
		}
		for _, h := range r.Hide {
			if Inside(w, h) && !slices.Contains(r.Kept, w) {
				return &PathError{"write", w, "inside of " + h + ", which is hidden", "remove it from write, or start elsewhere"}
			}
		}
	}
	return nil
}

// refuseDraft rejects a directory that cannot be a draft.
func (r *Rules) refuseDraft(dir string) error {
	const what = "name the directories to be changed, as in --draft=DIR; nothing was started"
	if dir == "/" {
		return &PathError{"draft", dir, "the whole file system cannot be a draft", what}
	}
	for _, no := range []string{"/proc", "/sys", "/dev", "/run"} {
		if Inside(dir, no) {
			return &PathError{"draft", dir, "this is the kernel's or the system's own", what}
		}
	}
	for _, h := range r.Hide {
		if Inside(dir, h) {
			return &PathError{"draft", dir, "inside of " + h + ", which is hidden", "start elsewhere; nothing was started"}
		}
	}
	st, err := os.Stat(dir)
	if err != nil {
		return &PathError{"draft", dir, errText(err), what}
	}
	if uid, ok := ownerOf(st); ok && os.Geteuid() != 0 && uid != os.Geteuid() {
		return &PathError{"draft", dir, fmt.Sprintf("it belongs to another user (id %d)", uid), "make a draft of a directory of yours, or of a copy; nothing was started"}
	}
	if inner := sys.MountsBelow(dir); len(inner) > 0 {
		return &PathError{"draft", dir, "another file system is mounted inside of it, at " + some(inner),
			"the kernel makes no draft of several file systems: name a directory without it, or unmount it; nothing was started"}
	}
	return nil
}

// startFiles are files and directories in a home directory that are run by shells and tools without being asked.
var startFiles = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".gitconfig", ".config/git", ".config/fish",
	".config/systemd", ".config/autostart", ".config/environment.d", ".config/nushell", ".config/powershell", ".ssh", ".vimrc", ".vim", ".config/nvim",
	".emacs", ".emacs.d", ".tmux.conf", ".xprofile", ".xinitrc", ".xsession", ".pam_environment", ".npmrc", ".gdbinit", ".local/bin", ".config/longterm",
}

// besides are files beside a project's own that tools outside run, or take orders from, when they are there.
var besides = []string{".vscode", ".idea", ".envrc", ".longterm", ".claude", ".cursor", ".mcp.json", ".husky"}

// Bounds of the search for repositories below what may be written. Directories nearer to it are looked at first.
const (
	searchDepth = 24
	searchNames = 20_000
)

// findProtected finds the protected files inside of writable directories.
func (r *Rules) findProtected() {
	left := searchNames
	for _, w := range r.Write {
		dirs := []string{w}
		for depth := 0; len(dirs) > 0; depth++ {
			if depth > searchDepth || left < 0 {
				r.Unsearched = append(r.Unsearched, w)
				break
			}
			dirs = r.search(dirs, &left)
		}
		for dir := filepath.Dir(w); len(dir) > 1; dir = filepath.Dir(dir) { // a part of a repository was named
			if filepath.Base(dir) == ".git" {
				r.protectGit(dir)
				break
			}
		}
	}
}

// search scans directories of one depth and returns those below them and those that it did not reach. left counts the
// remaining names.
func (r *Rules) search(dirs []string, left *int) (below []string) {
	for i, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		*left -= len(entries)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case e.Name() == ".git":
				r.protectGit(path)
			case slices.Contains(besides, e.Name()) && e.Type()&fs.ModeSymlink == 0:
				r.Protect = append(r.Protect, path)
			case e.IsDir() && e.Name() != "node_modules":
				below = append(below, path)
			}
		}
		if *left < 0 {
			return append(below, dirs[i+1:]...)
		}
	}
	return below
}

// findLinked finds protected files with another name (a hard link), whose place is unknown.
func (r *Rules) findLinked() {
	if len(r.Write) == 0 {
		return
	}
	look := func(path string) {
		if otherNames(path) && !slices.Contains(r.Linked, path) {
			r.Linked = append(r.Linked, path)
		}
	}
	for _, f := range startFiles {
		look(filepath.Join(r.Home, f))
	}
	for _, p := range r.Protect {
		look(p)
		for _, below := range []string{p, filepath.Join(p, "hooks")} {
			entries, _ := os.ReadDir(below)
			for _, e := range entries[:min(len(entries), searchNames/10)] {
				look(filepath.Join(below, e.Name()))
			}
		}
	}
}

// gitRuns are the parts of a repository that git runs, or that configure it.
var gitRuns = []string{"hooks", "config", "config.worktree", "commondir", "info/attributes", "modules", "worktrees"}

// protectGit keeps a repository as it is; with commits allowed, what in it is run.
func (r *Rules) protectGit(path string) {
	st, err := os.Lstat(path)
	if err != nil || st.Mode()&fs.ModeSymlink != 0 {
		return
	}
	if !r.Commits || !st.IsDir() {
		r.Protect = append(r.Protect, path)
		return
	}
	for _, name := range gitRuns {
		if f := filepath.Join(path, name); exists(f) {
			r.Protect = append(r.Protect, f)
		}
	}
}

func exists(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&fs.ModeSymlink == 0
}

// Within reports whether r allows nothing beyond o.
func (r *Rules) Within(o *Rules) bool {
	covered := func(these, those []string) bool {
		return !slices.ContainsFunc(these, func(p string) bool {
			return !slices.ContainsFunc(those, func(q string) bool { return Inside(p, q) })
		})
	}
	rank := map[Network]int{NetworkOff: 0, NetworkHosts: 1, NetworkOn: 2}
	switch {
	case !covered(r.Write, o.Write), !covered(r.Read, append(slices.Clone(o.Read), o.Write...)):
		return false
	case !covered(o.Hide, r.Hide): // what is hidden there is hidden here
		return false
	case rank[r.Network] > rank[o.Network], r.UnixSockets && !o.UnixSockets, r.Commits && !o.Commits:
		return false
	}
	return r.Network != NetworkHosts || o.Network == NetworkOn || covered2(r.Hosts, o.Hosts)
}

func covered2(these, those []string) bool {
	return !slices.ContainsFunc(these, func(h string) bool { return !slices.Contains(those, h) })
}

// minimal are the variables of a minimal environment.
var minimal = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "TERM_PROGRAM", "PWD", "COLUMNS", "LINES",
	"LONGTERM_SESSION", "PAGER", "GIT_PAGER",
}

// Environ returns the part of an environment that the program gets.
func (p *Profile) Environ(env []string) []string {
	var names []string
	switch p.Environment {
	case "minimal":
		names = minimal
	case "listed":
		names = append([]string{"TERM", "PWD", "HOME", "LONGTERM_SESSION"}, p.Env...)
	default:
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.ContainsFunc(names, func(n string) bool {
			head, open := strings.CutSuffix(n, "*")
			return n == name || open && strings.HasPrefix(name, head)
		})
	})
}
