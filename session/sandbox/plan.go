package sandbox

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/confine"
)

// Have describes the features of this machine.
type Have struct {
	Landlock int              // version of its ABI; 0: none
	Userns   error            // nil: namespaces are available
	Tool     map[Level]string // paths of programs for other levels
}

// Report describes the restrictions in force, for display.
type Report struct {
	Profile     string   `json:"profile"`
	Level       Level    `json:"level" enum:"landlock,userns,bwrap,docker,podman"`
	Network     Network  `json:"network" enum:"off,on,hosts"`
	Hosts       []string `json:"hosts,omitempty" doc:"that may be reached"`
	Summary     string   `json:"summary,omitempty" doc:"what it comes to, in one line"`
	Enforced    []string `json:"holds" doc:"what is kept from the program"`
	NotEnforced []string `json:"not_held" doc:"what is not, at this level"`
	OnDiffer    string   `json:"on_difference,omitempty" doc:"override of the profile's setting"`
	Rules       *Rules   `json:"rules,omitempty" doc:"the profile as it was resolved when the session was started"`
}

// LevelError rejects a level that is unavailable or cannot enforce a profile.
type LevelError struct {
	Level Level
	Why   string
	What  string
}

func (e *LevelError) Error() string {
	return fmt.Sprintf("the sandbox level %s cannot be had: %s", e.Level, e.Why)
}

// Hint returns the next step.
func (e *LevelError) Hint() string { return e.What }

// Choose returns the level for a profile: the required one, or the strongest available.
func (p *Profile) Choose(have Have) (Level, error) {
	if p.Level != "" {
		return p.Level, have.can(p.Level, p)
	}
	err := have.can(Userns, p)
	if err == nil {
		return Userns, nil
	}
	if err2 := have.can(Landlock, p); err2 != nil {
		return "", fmt.Errorf("%w; %w", err, err2)
	}
	return Landlock, nil
}

// can returns why a level cannot enforce a profile here, or nil.
func (h Have) can(l Level, p *Profile) error {
	no := func(why, what string) error { return &LevelError{l, why, what} }
	switch l {
	case Userns:
		if h.Userns != nil {
			return no(h.Userns.Error(), `allow user namespaces, or use level = "landlock"; nothing was started`)
		}
	case Landlock:
		switch {
		case h.Landlock < 3:
			return no(fmt.Sprintf("the kernel has version %d of Landlock, and 3 is needed", h.Landlock), "take a kernel from 6.2 on with lsm=landlock; nothing was started")
		case p.Network == NetworkHosts:
			return no("Landlock cannot keep a program to a list of hosts", `take level = "userns", or network = "off"; nothing was started`)
		}
	default:
		if h.Tool[l] == "" {
			return no("program "+string(l)+" not found", "install it, or use another level; nothing was started")
		}
		if l == Bwrap && p.Network == NetworkHosts || (l == Docker || l == Podman) && p.Network == NetworkHosts {
			return no("a list of hosts is held by level userns only", `take level = "userns"; nothing was started`)
		}
	}
	return nil
}

// ProxyPort is where the proxy listens on a sandbox's loopback.
const ProxyPort = 3128

// Serve is the configuration of the process that serves a sandbox's network.
type Serve struct {
	Session string   `json:"session"`
	Hosts   []string `json:"hosts"`
	Ask     string   `json:"ask,omitempty"`     // daemon socket for approval of other hosts
	Profile string   `json:"profile,omitempty"` // where the hosts are listed
	File    string   `json:"file,omitempty"`    // in which that stands
}

// maxLocal bounds the addresses of loopback that are led out.
const maxLocal = 64

// localOf returns the listed loopback addresses with their ports. Programs connect to those without the proxy: few use
// a proxy for their own machine.
func localOf(hosts []string) (local []netip.AddrPort) {
	for _, s := range hosts {
		h, err := ParseHost(s)
		if err != nil || !h.Addr.IsValid() || !h.Addr.IsSingleIP() || !h.Addr.Addr().IsLoopback() || h.Port == 0 || h.Port == ProxyPort {
			continue
		}
		if at := netip.AddrPortFrom(h.Addr.Addr(), uint16(h.Port)); len(local) < maxLocal && !slices.Contains(local, at) {
			local = append(local, at)
		}
	}
	return local
}

// Confine puts rules into a spec, at a level whose restrictions a process puts on itself.
func (r *Rules) Confine(spec *confine.Spec, l Level, serve Serve) error {
	spec.Calls = append(spec.Calls, r.calls(l)...)
	sb := &confine.Sandbox{Powerless: true}
	switch l {
	case Landlock:
		sb.Landlock = &confine.Landlock{
			Read: r.Read, Write: r.Write, Except: r.Hide, Keep: r.Protect, Needed: r.Needed, Kept: r.Kept, Scoped: true,
		}
	case Userns:
		ns := &confine.Namespaces{Network: r.Network != NetworkOn, Whole: slices.Contains(r.Read, "/"), Dir: r.Cwd, Mounts: r.mounts(), Locks: r.Locks}
		if r.Network == NetworkHosts {
			var err error
			serve.Hosts = r.Hosts
			if ns.Serve, err = json.Marshal(serve); err != nil {
				return err
			}
			ns.Port, ns.Local = ProxyPort, localOf(r.Hosts)
		}
		sb.Namespaces, sb.Landlock = ns, &confine.Landlock{Scoped: true}
	default:
		return &LevelError{l, "it is no level that a process puts on itself", "take landlock or userns"}
	}
	spec.Sandbox = sb
	return nil
}

// mounts returns rules as mounts: inner paths after outer ones, and the stricter of two at one path.
func (r *Rules) mounts() []confine.Mount {
	order := map[confine.MountKind]int{confine.MountTmp: 0, confine.MountRead: 1, confine.MountWrite: 2, confine.MountDraft: 3, confine.MountHide: 4}
	var all []confine.Mount
	add := func(k confine.MountKind, paths ...string) {
		for _, p := range paths {
			all = append(all, confine.Mount{Kind: k, Path: p})
		}
	}
	if r.Tmp {
		add(confine.MountTmp, "/tmp", "/var/tmp")
		if (Inside(r.Cwd, "/tmp") || Inside(r.Cwd, "/var/tmp")) && inAny(r.Cwd, r.Read) && !inAny(r.Cwd, r.Hide) && !r.inDraft(r.Cwd) { // it starts there
			add(confine.MountRead, r.Cwd)
		}
	}
	for _, p := range r.Read {
		if p != "/" && !inAny(p, r.Hide) {
			add(confine.MountRead, p)
		}
	}
	for _, p := range r.Write {
		if !r.isDraft(p) {
			add(confine.MountWrite, p)
		}
	}
	for _, d := range r.Drafts {
		all = append(all, confine.Mount{Kind: confine.MountDraft, Path: d.Path, Upper: d.Upper, Work: d.Work})
	}
	add(confine.MountWrite, r.above()...)
	for _, p := range r.Protect {
		if !inAny(p, r.Hide) {
			all = append(all, confine.Mount{Kind: confine.MountRead, Path: p, Optional: r.inDraft(p)})
		}
	}
	whole := slices.Contains(r.Read, "/")
	for i, p := range r.Hide {
		seen := whole || inAny(p, r.Read) || inAny(p, r.Write)
		if seen && !inAny(p, append(slices.Clone(r.Hide[:i]), r.Hide[i+1:]...)) && !(r.Tmp && (Inside(p, "/tmp") || Inside(p, "/var/tmp"))) {
			add(confine.MountHide, p)
		}
	}
	add(confine.MountRead, r.Needed...)
	add(confine.MountWrite, r.Kept...)
	slices.SortStableFunc(all, func(a, b confine.Mount) int {
		if a.Path == b.Path {
			return order[a.Kind] - order[b.Kind]
		}
		return strings.Compare(a.Path+"/", b.Path+"/")
	})
	return all
}

// above returns the directories between writable trees and protected paths in them. As separate mounts they cannot be
// renamed or replaced. In a draft the kernel renames no directory of the host's, and a mount would lead past the draft.
func (r *Rules) above() (dirs []string) {
	for _, p := range r.Protect {
		if r.inDraft(p) {
			continue
		}
		for dir := filepath.Dir(p); inAny(dir, r.Write) && !inAny(dir, r.Hide) && !slices.Contains(r.Write, dir); dir = filepath.Dir(dir) {
			if !slices.Contains(dirs, dir) && !inAny(dir, r.Protect) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

func inAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return Inside(path, d) })
}
