package sandbox

import (
	"path/filepath"
	"slices"
)

// Draft is a writable directory whose changes are kept in Upper until they are committed or discarded. Work is for the
// kernel. Both are on one file system, outside of the directory.
type Draft struct {
	Path  string `json:"path"`
	Upper string `json:"upper"`
	Work  string `json:"work"`
}

// makeDrafts makes drafts of all writable directories if any is requested. A directory inside of another belongs to
// the draft of the outer one. In a draft, parts of repositories that git does not run are writable: they are changes like others.
func (r *Rules) makeDrafts(dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	r.AllowsCommits = true
	for _, dir := range dirs {
		found, err := r.expand("draft", dir)
		if err != nil {
			return err
		}
		r.Write = append(r.Write, found...)
	}
	slices.Sort(r.Write)
	r.Write = slices.Compact(r.Write)
	all := r.Write
	r.Write = slices.DeleteFunc(slices.Clone(all), func(w string) bool {
		return slices.ContainsFunc(all, func(d string) bool { return d != w && IsInside(w, d) })
	})
	for _, w := range r.Write {
		if !isDir(w) {
			return &PathError{"draft", w, "it is no directory", "name the directory of the file"}
		}
		r.Drafts = append(r.Drafts, Draft{Path: w})
	}
	return nil
}

// buildCaches are directories of the home directory in which builds keep what they download and compile.
var buildCaches = []string{
	".cache", ".npm", "go/pkg", ".cargo/registry", ".cargo/git", ".m2", ".gradle", ".ivy2", ".sbt", ".yarn", ".bun/install", ".local/share/pnpm", ".nuget", ".pub-cache",
}

// findCaches finds the caches that programs in a draft can read and, privately, write.
func (r *Rules) findCaches() {
	if r.Drafts == nil {
		return
	}
	for _, name := range buildCaches {
		dir := filepath.Join(r.Home, name)
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || real != dir || !isDir(dir) || !isInsideAny(dir, r.Read) || isInsideAny(dir, r.Hide) || r.PrivateTmp && IsInside(dir, "/tmp") ||
			slices.ContainsFunc(r.Write, func(w string) bool { return IsInside(dir, w) || IsInside(w, dir) }) || r.checkDraft(dir) != nil {
			continue
		}
		r.Caches = append(r.Caches, Draft{Path: dir})
	}
}

// DraftDirs returns the directories of r's drafts.
func (r *Rules) DraftDirs() (dirs []string) {
	for _, d := range r.Drafts {
		dirs = append(dirs, d.Path)
	}
	return dirs
}

// isDraft reports whether a path is the directory of a draft.
func (r *Rules) isDraft(path string) bool {
	return slices.ContainsFunc(r.Drafts, func(d Draft) bool { return d.Path == path })
}

// inDraft reports whether a path is in a draft.
func (r *Rules) inDraft(path string) bool {
	return slices.ContainsFunc(r.Drafts, func(d Draft) bool { return IsInside(path, d.Path) })
}

// ChooseDraft returns the level for a draft of a profile. Only separate namespaces support drafts.
func (p *Profile) ChooseDraft(have Features) (Level, error) {
	if p.Level != "" && p.Level != Userns {
		return "", &LevelError{p.Level, "it keeps no changes apart, and a draft needs that", `take a profile with level = "userns", or none; nothing was started`}
	}
	err := have.checkLevel(Userns, p)
	if e, ok := err.(*LevelError); ok {
		return "", &LevelError{Userns, e.Why + " (a draft requires it)", "allow user namespaces, or start it without --draft; nothing was started"}
	}
	return Userns, err
}

// DraftLimits returns the effects that the drafts of r do not keep, for display.
func (r *Rules) DraftLimits() []string {
	not := []string{}
	if r.Network != NetworkOff {
		not = append(not, "effects over the network: "+r.netText())
	}
	if r.UnixSockets {
		not = append(not, "what programs outside do on request by their sockets, such as docker and D-Bus")
	}
	if r.PrivateTmp {
		not = append(not, "files in /tmp and /var/tmp: private, and lost at the end")
	}
	if len(r.Caches) > 0 {
		dirs := make([]string, len(r.Caches))
		for i, c := range r.Caches {
			dirs[i] = c.Path
		}
		not = append(not, "changes of caches, which are private and lost at the end: "+firstFew(dirs))
	}
	if r.DraftSize > 0 {
		not = append(not, "its size exactly: programs are ended a moment after they pass the limit, and versions for undo and deleted open files do not count")
	}
	return append(not,
		"changes from outside while the draft is open: some show through, some do not, and a commit can only report them",
		"locks: a program inside and one outside, such as SQLite or git, do not exclude each other",
		"hard links: a changed file is separated from its other names",
		"writes outside of the draft's directories: they fail",
	)
}

// netText describes the network of rules.
func (r *Rules) netText() string {
	if r.Network == NetworkHosts {
		return "to " + firstFew(r.Hosts)
	}
	return "to all hosts"
}
