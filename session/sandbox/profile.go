package sandbox

import (
	"maps"
	"slices"
	"strings"
)

// Profile is a sandbox as a user describes it.
type Profile struct {
	Name         string
	Description  string
	Level        Level    // required level; empty: the strongest available
	Read         []string // paths that may be read and executed: absolute, ~/…, $CWD/…, with globs; "?" before one: optional
	Write        []string // paths that may be written, and read
	Hide         []string // paths to hide, regardless of Read and Write
	Credentials  []string // names of credentials that may be read, regardless of Hide
	Network      Network
	Hosts        []string // of NetworkHosts: "example.org", "*.example.org:443"
	OnDifference string   // action for hosts and programs that the profile does not list: "deny" or "ask"
	Git          string   // writable repositories: "read" protects .git, "commit" only hooks and config
	UnixSockets  bool     // sockets of the file system may be created and connected to
	PrivateTmp   bool     // /tmp is private
	Environment  string   // full, minimal or listed
	Env          []string // for "listed": names, with * at the end
	Programs     []string // programs of the observed run; others need approval if OnDifference is "ask"
	Image        string   // of a container
	Memory       int64    // bytes; 0: no limit
	CPU          float64
	PIDs         int
	DraftSize    int64 // most space of a draft's changes, bytes; 0: no limit
}

// Network states which hosts may be reached.
type Network string

// Networks.
const (
	NetworkOff   Network = "off"
	NetworkOn    Network = "on"
	NetworkHosts Network = "hosts" // the listed hosts
)

// Level is a way of enforcing a sandbox.
type Level string

// Levels.
const (
	Landlock Level = "landlock" // the kernel refuses paths, system calls are filtered
	Userns   Level = "userns"   // separate namespaces
	Bwrap    Level = "bwrap"    // separate namespaces, by bubblewrap
	Docker   Level = "docker"   // a container
	Podman   Level = "podman"
	Seatbelt Level = "seatbelt" // macOS's sandbox-exec
)

// Tool returns the program that enforces a level, or "" for levels that a process applies to itself.
func (l Level) Tool() string {
	switch l {
	case Seatbelt:
		return "sandbox-exec"
	case Bwrap, Docker, Podman:
		return string(l)
	}
	return ""
}

// MountsTmp reports whether a private /tmp is mounted. At other levels the program has another TMPDIR.
func (l Level) MountsTmp() bool { return l != Landlock && l != Seatbelt }

// Levels returns all levels, strongest first among the automatic ones.
func Levels() []Level { return []Level{Userns, Landlock, Bwrap, Docker, Podman, Seatbelt} }

// credentialPaths are the usual paths of keys and tokens.
var credentialPaths = []string{"?~/.ssh", "?~/.gnupg", "?~/.aws", "?~/.azure", "?~/.config/gcloud", "?~/.config/gh", "?~/.kube", "?~/.netrc", "?~/.docker"}

// builtins are the profiles available without a file. A profile in the file with the same name replaces one.
var builtins = []Profile{
	{
		Name: "workspace", Description: "read all, write the start directory and a private /tmp, no network",
		Read: []string{"/"}, Write: []string{"$CWD"}, Network: NetworkOff, PrivateTmp: true,
	},
	{
		Name: "readonly", Description: "read all, write only a private /tmp, no network",
		Read: []string{"/"}, Network: NetworkOff, PrivateTmp: true,
	},
	{
		Name: "network", Description: "as workspace, with the network; usual places of keys and tokens are hidden",
		Read: []string{"/"}, Write: []string{"$CWD"}, Network: NetworkOn, PrivateTmp: true,
		Hide: credentialPaths,
	},
	{
		Name: "draft", Description: "as workspace; usual places of keys and tokens are hidden. For runs in a draft that the rules want",
		Read: []string{"/"}, Write: []string{"$CWD"}, Network: NetworkOff, PrivateTmp: true, Hide: credentialPaths,
	},
}

// setDefaults fills in defaults.
func (p *Profile) setDefaults() {
	if p.Network == "" {
		p.Network = NetworkOff
	}
	if p.OnDifference == "" {
		p.OnDifference = "deny"
	}
	if p.Git == "" {
		p.Git = "read"
	}
	if p.Environment == "" {
		p.Environment = "full"
	}
}

// Builtin returns a built-in profile.
func Builtin(name string) (Profile, bool) {
	i := slices.IndexFunc(builtins, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	p := builtins[i]
	p.setDefaults()
	return p, true
}

// Profile returns the profile of a name: the file's, or the built-in one.
func (f *File) Profile(name string) (Profile, error) {
	if p, ok := f.profiles[name]; ok {
		return p, nil
	}
	if p, ok := Builtin(name); ok {
		return p, nil
	}
	return Profile{}, &NameError{Name: name, Known: f.Names(), Path: f.Path}
}

// Names returns the known profiles.
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

// NameError reports an unknown profile.
type NameError struct {
	Name, Path string
	Known      []string
}

func (e *NameError) Error() string {
	return "no sandbox profile " + e.Name + "; there are " + strings.Join(e.Known, ", ")
}

// Hint returns the next step.
func (e *NameError) Hint() string {
	if !isName(e.Name) {
		return "use one of these; " + nameRule
	}
	return "write [" + e.Name + "] in " + e.Path + ", or use one of these"
}
