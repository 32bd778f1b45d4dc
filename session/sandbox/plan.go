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

// Features describes the sandbox features of this machine.
type Features struct {
	Landlock  int              // version of the ABI; 0: unsupported
	Userns    error            // nil: user namespaces are available
	ToolPaths map[Level]string // paths of the programs of other levels
}

// Report describes the restrictions in force, for display.
type Report struct {
	Profile      string   `json:"profile"`
	Level        Level    `json:"level" enum:"landlock,userns,bwrap,docker,podman,seatbelt"`
	Network      Network  `json:"network" enum:"off,on,hosts"`
	Hosts        []string `json:"hosts,omitempty" doc:"that may be reached"`
	Summary      string   `json:"summary,omitempty" doc:"what it comes to, in one line"`
	Enforced     []string `json:"holds" doc:"what is kept from the program"`
	NotEnforced  []string `json:"not_held" doc:"what is not, at this level"`
	OnDifference string   `json:"on_difference,omitempty" doc:"override of the profile's setting"`
	Rules        *Rules   `json:"rules,omitempty" doc:"the profile as it was resolved when the session was started"`
}

// LevelError rejects a level that is unavailable or cannot enforce a profile.
type LevelError struct {
	Level    Level
	Why      string
	NextStep string
}

func (e *LevelError) Error() string {
	return fmt.Sprintf("the sandbox level %s cannot be had: %s", e.Level, e.Why)
}

// Hint returns the next step.
func (e *LevelError) Hint() string { return e.NextStep }

// Choose returns the level for a profile: the required one, or the strongest available.
func (p *Profile) Choose(have Features) (Level, error) {
	if p.Level != "" {
		return p.Level, have.checkLevel(p.Level, p)
	}
	err := have.checkLevel(Userns, p)
	if err == nil {
		return Userns, nil
	}
	if err2 := have.checkLevel(Landlock, p); err2 != nil {
		return "", fmt.Errorf("%w; %w", err, err2)
	}
	return Landlock, nil
}

// checkLevel returns why a level cannot enforce a profile here, or nil.
func (h Features) checkLevel(l Level, p *Profile) error {
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
		if h.ToolPaths[l] == "" {
			return no("program "+l.Tool()+" not found", "install it, or use another level; nothing was started")
		}
		if p.Network == NetworkHosts {
			return no("a list of hosts is held by level userns only", `take level = "userns"; nothing was started`)
		}
	}
	return nil
}

// ProxyPort is the port of the proxy on a sandbox's loopback.
const ProxyPort = 3128

// ProxyConfig is the configuration of the process that serves a sandbox's network.
type ProxyConfig struct {
	Session string   `json:"session"`
	Hosts   []string `json:"hosts"`
	Ask     string   `json:"ask,omitempty"`     // daemon socket for approval of other hosts
	Profile string   `json:"profile,omitempty"` // profile that lists the hosts
	File    string   `json:"file,omitempty"`    // file of the profile
}

// maxLocal bounds the loopback addresses that are forwarded outside.
const maxLocal = 64

// loopbackHosts returns the listed loopback addresses with their ports. Programs connect to those without the proxy: few use
// a proxy for their own machine.
func loopbackHosts(hosts []string) (local []netip.AddrPort) {
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

// Confine adds rules to a spec, at a level whose restrictions a process applies to itself.
func (r *Rules) Confine(spec *confine.Spec, l Level, serve ProxyConfig) error {
	spec.Calls = append(spec.Calls, r.refusedCalls(l)...)
	sb := &confine.Sandbox{DropCapabilities: true}
	switch l {
	case Landlock:
		sb.Landlock = &confine.Landlock{
			Read: r.Read, Write: r.Write, Excluded: r.Hide, ReadOnly: r.Protect, ReadInExcluded: r.ReadInHidden, WriteInExcluded: r.WriteInHidden, Scoped: true,
		}
	case Userns:
		ns := &confine.Namespaces{Network: r.Network != NetworkOn, HostRoot: slices.Contains(r.Read, "/"), Dir: r.Cwd, Mounts: r.mounts(), Locks: r.Locks, DraftSize: r.DraftSize}
		if r.Network == NetworkHosts {
			var err error
			serve.Hosts = r.Hosts
			if ns.Serve, err = json.Marshal(serve); err != nil {
				return err
			}
			ns.Port, ns.Local = ProxyPort, loopbackHosts(r.Hosts)
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
	if r.PrivateTmp {
		add(confine.MountTmp, "/tmp", "/var/tmp")
		if (IsInside(r.Cwd, "/tmp") || IsInside(r.Cwd, "/var/tmp")) && isInsideAny(r.Cwd, r.Read) && !isInsideAny(r.Cwd, r.Hide) && !r.inDraft(r.Cwd) { // the program starts there
			add(confine.MountRead, r.Cwd)
		}
	}
	for _, p := range r.Read {
		if p != "/" && !isInsideAny(p, r.Hide) {
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
	for _, d := range r.Caches {
		all = append(all, confine.Mount{Kind: confine.MountDraft, Path: d.Path, Upper: d.Upper, Work: d.Work, Optional: true})
	}
	add(confine.MountWrite, r.intermediateDirs()...)
	for _, p := range r.Protect {
		if !isInsideAny(p, r.Hide) {
			all = append(all, confine.Mount{Kind: confine.MountRead, Path: p, Optional: r.inDraft(p)})
		}
	}
	whole := slices.Contains(r.Read, "/")
	for i, p := range r.Hide {
		seen := whole || isInsideAny(p, r.Read) || isInsideAny(p, r.Write)
		if seen && !isInsideAny(p, append(slices.Clone(r.Hide[:i]), r.Hide[i+1:]...)) && !(r.PrivateTmp && (IsInside(p, "/tmp") || IsInside(p, "/var/tmp"))) {
			add(confine.MountHide, p)
		}
	}
	add(confine.MountRead, r.ReadInHidden...)
	add(confine.MountWrite, r.WriteInHidden...)
	slices.SortStableFunc(all, func(a, b confine.Mount) int {
		if a.Path == b.Path {
			return order[a.Kind] - order[b.Kind]
		}
		return strings.Compare(a.Path+"/", b.Path+"/")
	})
	return all
}

// intermediateDirs returns the directories between writable trees and protected paths in them. As separate mounts they cannot
// be renamed or replaced. Drafts need none: the kernel renames no directory of the host in them, and a mount would bypass them.
func (r *Rules) intermediateDirs() (dirs []string) {
	for _, p := range r.Protect {
		if r.inDraft(p) {
			continue
		}
		for dir := filepath.Dir(p); isInsideAny(dir, r.Write) && !isInsideAny(dir, r.Hide) && !slices.Contains(r.Write, dir); dir = filepath.Dir(dir) {
			if !slices.Contains(dirs, dir) && !isInsideAny(dir, r.Protect) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// isInsideAny reports whether path is in one of dirs.
func isInsideAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return IsInside(path, d) })
}
