package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/sys"
)

// Place describes where a sandboxed program starts. All paths are absolute.
type Place struct {
	Home, Cwd string
	// OwnDirs are longterm's own directories: configuration, state, runtime. They are hidden in every profile.
	OwnDirs []string
	// ReadInHidden are hidden paths that the session itself reads: scripts that are read into its shell.
	ReadInHidden []string
	// WriteInHidden are hidden paths to which the session's shell writes its state.
	WriteInHidden []string
	// Runtime is the directory of the user's sockets.
	Runtime string
	// Draft lists directories to write as drafts. If there is one, the profile's own writable directories become drafts too,
	// except $CWD outside of all of them.
	Draft []string
	// DraftSize is the most space of the drafts' changes, in bytes. If 0, the profile's applies.
	DraftSize int64
}

// Rules are a profile for a Place: existing absolute paths without links. Inner paths come after outer ones.
type Rules struct {
	Profile       string   `json:"profile"`
	Read          []string `json:"read"`
	Write         []string `json:"write,omitempty"`
	Drafts        []Draft  `json:"drafts,omitempty"`     // entries of Write whose changes are kept separately
	Caches        []Draft  `json:"caches,omitempty"`     // directories whose changes are private and lost at the end
	DraftSize     int64    `json:"draft_size,omitempty"` // most space of these changes, bytes; 0: no limit
	Locks         []string `json:"locks,omitempty"`      // files that are locked while the drafts are mounted
	Hide          []string `json:"hide,omitempty"`       // inaccessible
	Protect       []string `json:"protect,omitempty"`    // in Write, but not writable
	ReadInHidden  []string `json:"needed,omitempty"`     // read, although in Hide
	WriteInHidden []string `json:"kept,omitempty"`       // written, although in Hide
	PrivateTmp    bool     `json:"tmp,omitempty"`

	Network          Network  `json:"network"`
	Hosts            []string `json:"hosts,omitempty"`
	AsksOnDifference bool     `json:"ask,omitempty"` // differences need approval
	UnixSockets      bool     `json:"unix_sockets,omitempty"`
	AllowsCommits    bool     `json:"commits,omitempty"`
	Programs         []string `json:"programs,omitempty"`
	Unsearched       []string `json:"unsearched,omitempty"` // directories in which not all protected files were found
	Linked           []string `json:"linked,omitempty"`     // protected and start files with other names, by which they may be written
	Home             string   `json:"home"`
	Cwd              string   `json:"cwd"`
}

// PathError rejects a path of a profile.
type PathError struct{ Key, Path, Why, NextStep string }

func (e *PathError) Error() string { return fmt.Sprintf("%s %s: %s", e.Key, e.Path, e.Why) }

// Hint returns the next step.
func (e *PathError) Hint() string { return e.NextStep }

// Resolve returns the rules of a profile for a place.
func (p *Profile) Resolve(at Place) (*Rules, error) {
	r := &Rules{
		Profile: p.Name, PrivateTmp: p.PrivateTmp, Network: p.Network, Hosts: p.Hosts, AsksOnDifference: p.OnDifference == "ask",
		UnixSockets: p.UnixSockets, AllowsCommits: p.Git == "commit",
	}
	var err error
	if r.Home, err = filepath.EvalSymlinks(at.Home); err != nil {
		r.Home = filepath.Clean(at.Home)
	}
	if r.Cwd, err = filepath.EvalSymlinks(at.Cwd); err != nil {
		return nil, &PathError{"directory", at.Cwd, errText(err), "choose a different directory with --cwd"}
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
	for _, path := range p.Programs { // by the written name, and by the file's
		found, err := r.expand("programs", "?"+strings.TrimPrefix(path, "?"))
		if err != nil {
			return nil, err
		}
		r.Programs = append(append(r.Programs, strings.TrimPrefix(path, "?")), found...)
	}
	for _, path := range append(slices.Clone(at.OwnDirs), r.socketDirs(at)...) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			r.Hide = append(r.Hide, real)
		}
	}
	for _, n := range []struct {
		from []string
		to   *[]string
	}{{at.ReadInHidden, &r.ReadInHidden}, {at.WriteInHidden, &r.WriteInHidden}} {
		for _, path := range n.from {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				*n.to = append(*n.to, real)
			}
		}
	}
	if err := r.makeDrafts(at.Draft); err != nil {
		return nil, err
	}
	if r.Drafts != nil {
		r.DraftSize = cmp.Or(at.DraftSize, p.DraftSize)
		r.findCaches()
	}
	if err := r.checkWritable(); err != nil {
		return nil, err
	}
	r.findProtected()
	if err := r.allowCredentials(p.Credentials); err != nil {
		return nil, err
	}
	r.findLinked()
	for _, list := range []*[]string{&r.Read, &r.Write, &r.Hide, &r.Protect, &r.ReadInHidden, &r.WriteInHidden, &r.Programs} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r, nil
}

// socketDirs returns the directories with sockets of other programs, the user's and the system's: programs behind them are
// not restricted by the sandbox.
func (r *Rules) socketDirs(at Place) []string {
	dirs := []string{"/run", at.Runtime, "/tmp/.X11-unix", "/tmp/.ICE-unix", filepath.Join(r.Home, ".docker/run"), filepath.Join(r.Home, ".docker/desktop"),
		filepath.Join(r.Home, ".colima"), "/var/lib/docker", "/var/lib/containerd"}
	return slices.DeleteFunc(dirs, func(d string) bool { return d == "" })
}

// expand returns a path of a profile, or the matches of its globs.
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
		if _, err := os.Lstat(path); err != nil { // no file has that literal name
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
		case inside != "" && key != "hide" && !IsInside(real, inside):
			return nil, &PathError{key, written, "it is a link that leads out, to " + real,
				"name " + real + " itself if intended: any program that can write there could create such a link"}
		}
		all = append(all, real)
	}
	return all, nil
}

// errText returns an error without its path.
func errText(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// IsInside reports whether path is dir or below it. Both are absolute and clean.
func IsInside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// checkWritable rejects writable paths that no profile may have.
func (r *Rules) checkWritable() error {
	for _, w := range r.Write {
		what := "start it in a separate directory, or list writable directories"
		if r.isDraft(w) {
			if err := r.checkDraft(w); err != nil {
				return err
			}
			continue
		}
		if IsInside(r.Home, w) {
			return &PathError{"write", w, "this is the home directory, or above: start files of shells could be made in it", what}
		}
		for _, no := range []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/proc", "/sys", "/dev", "/run", "/var/spool/cron"} {
			if (no == "/proc" || no == "/sys" || no == "/dev" || no == "/run") && IsInside(w, no) && !(no == "/dev" && IsInside(w, "/dev/shm")) || IsInside(no, w) {
				return &PathError{"write", w, "this is the system's own, or above", what}
			}
		}
		for _, f := range startFiles {
			if IsInside(w, filepath.Join(r.Home, f)) {
				return &PathError{"write", w, "what is in it is run by shells and tools outside of the sandbox", what}
			}
		}
		for _, h := range r.Hide {
			if IsInside(w, h) && !slices.Contains(r.WriteInHidden, w) {
				return &PathError{"write", w, "inside of " + h + ", which is hidden", "remove it from write, or start elsewhere"}
			}
		}
	}
	return nil
}

// checkDraft rejects a directory that cannot be a draft.
func (r *Rules) checkDraft(dir string) error {
	const what = "name the directories to be changed, as in --draft=DIR; nothing was started"
	if dir == "/" {
		return &PathError{"draft", dir, "the whole file system cannot be a draft", what}
	}
	for _, no := range []string{"/proc", "/sys", "/dev", "/run"} {
		if IsInside(dir, no) {
			return &PathError{"draft", dir, "this is the kernel's or the system's own", what}
		}
	}
	for _, h := range r.Hide {
		if IsInside(dir, h) {
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
		return &PathError{"draft", dir, "another file system is mounted inside of it, at " + firstFew(inner),
			"the kernel makes no draft of several file systems: name a directory without it, or unmount it; nothing was started"}
	}
	return nil
}

// startFiles are files and directories in a home directory that shells and tools run without a request.
var startFiles = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".gitconfig", ".config/git", ".config/fish",
	".config/systemd", ".config/autostart", ".config/environment.d", ".config/nushell", ".config/powershell", ".ssh", ".vimrc", ".vim", ".config/nvim",
	".emacs", ".emacs.d", ".tmux.conf", ".xprofile", ".xinitrc", ".xsession", ".pam_environment", ".npmrc", ".gdbinit", ".local/bin", ".config/longterm",
}

// projectToolFiles are files in a project that tools outside run or read orders from.
var projectToolFiles = []string{".vscode", ".idea", ".envrc", ".longterm", ".claude", ".cursor", ".mcp.json", ".husky"}

// Bounds of the search for repositories in writable directories. Directories near the top are searched first.
const (
	maxSearchDepth = 24
	maxSearchNames = 20_000
)

// findProtected finds the protected files in writable directories.
func (r *Rules) findProtected() {
	left := maxSearchNames
	for _, w := range r.Write {
		dirs := []string{w}
		for depth := 0; len(dirs) > 0; depth++ {
			if depth > maxSearchDepth || left < 0 {
				r.Unsearched = append(r.Unsearched, w)
				break
			}
			dirs = r.searchLevel(dirs, &left)
		}
		for dir := filepath.Dir(w); len(dir) > 1; dir = filepath.Dir(dir) { // only a part of a repository is writable
			if filepath.Base(dir) == ".git" {
				r.protectGit(dir)
				break
			}
		}
	}
}

// searchLevel scans directories of one depth and returns those below them and those that it did not reach. left counts the
// remaining names.
func (r *Rules) searchLevel(dirs []string, left *int) (below []string) {
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
			case slices.Contains(projectToolFiles, e.Name()) && e.Type()&fs.ModeSymlink == 0:
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

// findLinked finds protected files with another name (a hard link) of unknown path.
func (r *Rules) findLinked() {
	if len(r.Write) == 0 {
		return
	}
	look := func(path string) {
		if hasHardLinks(path) && !slices.Contains(r.Linked, path) {
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
			for _, e := range entries[:min(len(entries), maxSearchNames/10)] {
				look(filepath.Join(below, e.Name()))
			}
		}
	}
}

// gitProtectedPaths are the parts of a repository that git runs, or that configure it.
var gitProtectedPaths = []string{"hooks", "config", "config.worktree", "commondir", "info/attributes", "modules", "worktrees"}

// protectGit protects a repository; if commits are allowed, only the parts that git runs.
func (r *Rules) protectGit(path string) {
	st, err := os.Lstat(path)
	if err != nil || st.Mode()&fs.ModeSymlink != 0 {
		return
	}
	if !r.AllowsCommits || !st.IsDir() {
		r.Protect = append(r.Protect, path)
		return
	}
	for _, name := range gitProtectedPaths {
		if f := filepath.Join(path, name); exists(f) {
			r.Protect = append(r.Protect, f)
		}
	}
}

// exists reports whether a path exists and is no link.
func exists(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&fs.ModeSymlink == 0
}

// IsWithin reports whether r allows nothing beyond o.
func (r *Rules) IsWithin(o *Rules) bool {
	covered := func(these, those []string) bool {
		return !slices.ContainsFunc(these, func(p string) bool {
			return !slices.ContainsFunc(those, func(q string) bool { return IsInside(p, q) })
		})
	}
	rank := map[Network]int{NetworkOff: 0, NetworkHosts: 1, NetworkOn: 2}
	switch {
	case !covered(r.Write, o.Write), !covered(r.Read, append(slices.Clone(o.Read), o.Write...)):
		return false
	case !covered(o.Hide, r.Hide): // paths hidden in o are hidden in r
		return false
	case rank[r.Network] > rank[o.Network], r.UnixSockets && !o.UnixSockets, r.AllowsCommits && !o.AllowsCommits:
		return false
	}
	return r.Network != NetworkHosts || o.Network == NetworkOn || isSubset(r.Hosts, o.Hosts)
}

// isSubset reports whether those contains these.
func isSubset(these, those []string) bool {
	return !slices.ContainsFunc(these, func(h string) bool { return !slices.Contains(those, h) })
}

// minimalEnv lists the variables of a minimal environment.
var minimalEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "TERM_PROGRAM", "PWD", "COLUMNS", "LINES",
	"LONGTERM_SESSION", "PAGER", "GIT_PAGER",
}

// Environ returns the part of an environment that the program gets.
func (p *Profile) Environ(env []string) []string {
	var names []string
	switch p.Environment {
	case "minimal":
		names = minimalEnv
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
