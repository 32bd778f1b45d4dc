package sandbox

import (
	"slices"
	"strings"
)

// seatbeltBase allows what nearly every program of macOS needs: to start programs, its terminal, devices without
// contents, and facts about the system. Everything else is denied. Of several matching lines the last one counts.
const seatbeltBase = `(version 1)
(deny default)
(allow process-fork process-exec)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
`

// seatbelt returns rules as a profile of macOS's sandbox-exec. A private /tmp is not part of it: the session has another
// TMPDIR.
func (r *Rules) seatbelt() string {
	var b strings.Builder
	b.WriteString(seatbeltBase)
	for _, line := range []struct {
		action string
		paths  []string
	}{
		{"allow file-read*", r.Read},
		{"allow file-read* file-write*", r.Write},
		{"deny file-write*", r.Protect},
		{"deny file-read* file-write*", r.Hide},
		{"allow file-read*", r.ReadInHidden},
		{"allow file-read* file-write*", r.WriteInHidden},
	} {
		if len(line.paths) == 0 {
			continue
		}
		b.WriteString("(" + line.action)
		for _, p := range line.paths {
			b.WriteString(" (subpath " + seatbeltString(p) + ")")
		}
		b.WriteString(")\n")
	}
	if r.Network == NetworkOn {
		b.WriteString("(allow network* system-socket)\n")
	}
	switch {
	case r.UnixSockets:
		b.WriteString("(allow network-bind (local unix-socket))\n(allow network-outbound (remote unix-socket))\n")
	case r.Network == NetworkOn: // names are resolved by a service behind a socket
		b.WriteString("(deny network-bind (local unix-socket))\n(deny network-outbound (remote unix-socket))\n" +
			`(allow network-outbound (literal "/private/var/run/mDNSResponder"))` + "\n")
	}
	return b.String()
}

// seatbeltString returns a text as a string of a seatbelt profile.
func seatbeltString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// credentials maps the names of credentials to the paths of their files.
var credentials = map[string]string{
	"ssh": "~/.ssh", "gnupg": "~/.gnupg", "aws": "~/.aws", "azure": "~/.azure", "gcloud": "~/.config/gcloud", "gh": "~/.config/gh",
	"kube": "~/.kube", "netrc": "~/.netrc", "docker": "~/.docker", "npm": "~/.npmrc", "git": "~/.git-credentials", "pypi": "~/.pypirc", "cargo": "~/.cargo/credentials.toml",
}

// allowCredentials makes the named credentials readable, and not writable, although hide lists them.
func (r *Rules) allowCredentials(names []string) error {
	for _, name := range names {
		found, err := r.expand("credentials", "?"+credentials[name])
		if err != nil {
			return err
		}
		for _, path := range found {
			r.Read = append(r.Read, path)
			r.Hide = slices.DeleteFunc(r.Hide, func(hidden string) bool { return hidden == path })
			if isInsideAny(path, r.Hide) {
				r.ReadInHidden = append(r.ReadInHidden, path)
			}
			if isInsideAny(path, r.Write) {
				r.Protect = append(r.Protect, path)
			}
		}
	}
	return nil
}
