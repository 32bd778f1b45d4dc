package sandbox

import (
	"maps"
	"slices"
	"strings"
)

// Profile is a sandbox as a person describes it.
type Profile struct {
	Name        string
	Description string
	Level       Level    // that is required; empty: the strongest there is
	Read        []string // paths that may be read and executed: absolute, ~/…, $CWD/…, with globs of directories; "?" before one: optional
	Write       []string // paths that may be written, and read
	Hide        []string // paths that are not there, whatever Read and Write say
	Network     Network
	Hosts       []string // of NetworkHosts: "example.org", "*.example.org:443"
	OnDiffer    string   // of a host that is not listed: "deny" or "ask"
	Git         string   // of a repository that may be written: "read" keeps .git as it is, "commit" all but hooks and config
	UnixSockets bool     // sockets of the file system may be made and connected to
	Tmp         bool     // /tmp is its own
	Environment string   // full, minimal or listed
	Env         []string // of listed: names, with * at the end
	Programs    []string // that it ran when it was observed; others are asked about with OnDiffer "ask"
	Image       string   // of a container
	Memory      int64    // bytes; 0: no limit
	CPU         float64
	PIDs        int
}

// Network is how much of it there is.
type Network string

// Networks.
const (
	NetworkOff   Network = "off"
	NetworkOn    Network = "on"
	NetworkHosts Network = "hosts" // a list of them
)

// Level is a way of holding a sandbox.
type Level string

// Levels.
const (
	Landlock Level = "landlock" // the kernel refuses paths, system calls are filtered
	Userns   Level = "userns"   // namespaces of its own
	Bwrap    Level = "bwrap"    // the same, by bubblewrap
	Docker   Level = "docker"   // a container
	Podman   Level = "podman"
)

// Levels are all, the strongest of those that are taken by themselves first.
func Levels() []Level { return []Level{Userns, Landlock, Bwrap, Docker, Podman} }

// builtins are the profiles that are there without a file. One in the file with the same name takes the place of it.
var builtins = []Profile{
	{
		Name: "workspace", Description: "read all, write the directory it starts in and a /tmp of its own, no network",
		Read: []string{"/"}, Write: []string{"$CWD"}, Network: NetworkOff, Tmp: true,
	},
	{
		Name: "readonly", Description: "read all, write nothing but a /tmp of its own, no network",
		Read: []string{"/"}, Network: NetworkOff, Tmp: true,
	},
	{
		Name: "network", Description: "as workspace, with the network; usual places of keys and tokens are hidden",
		Read: []string{"/"}, Write: []string{"$CWD"}, Network: NetworkOn, Tmp: true,
		Hide: []string{"?~/.ssh", "?~/.gnupg", "?~/.aws", "?~/.azure", "?~/.config/gcloud", "?~/.config/gh", "?~/.kube", "?~/.netrc", "?~/.docker"},
	},
}

// complete fills in what was not said.
func (p *Profile) complete() {
	if p.Network == "" {
		p.Network = NetworkOff
	}
	if p.OnDiffer == "" {
		p.OnDiffer = "deny"
	}
	if p.Git == "" {
		p.Git = "read"
	}
	if p.Environment == "" {
		p.Environment = "full"
	}
}

// Builtin is a built-in profile.
func Builtin(name string) (Profile, bool) {
	i := slices.IndexFunc(builtins, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	p := builtins[i]
	p.complete()
	return p, true
}

// Profile is the profile of a name: the file's, or the built-in one.
func (f *File) Profile(name string) (Profile, error) {
	if p, ok := f.profiles[name]; ok {
		return p, nil
	}
	if p, ok := Builtin(name); ok {
		return p, nil
	}
	return Profile{}, &NameError{Name: name, Known: f.Names(), Path: f.Path}
}

// Names are the profiles there are.
func (f *File) Names() []string {
	names := slices.Collect(maps.Keys(f.profiles))
	for _, p := range builtins {
		if _, ok := f.profiles[p.Name]; !ok {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// NameError says that there is no profile of a name.
type NameError struct {
	Name, Path string
	Known      []string
}

func (e *NameError) Error() string {
	return "no sandbox profile " + e.Name + "; there are " + strings.Join(e.Known, ", ")
}

// Hint says what to do.
func (e *NameError) Hint() string {
	if !isName(e.Name) {
		return "take one of these; " + nameRule
	}
	return "write [" + e.Name + "] in " + e.Path + ", or take one of these"
}
