//go:build unix

package hosts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

// ProbeResult describes a host before a bridge runs there.
type ProbeResult struct {
	System  string // as in linux/amd64; as uname prints it for other systems
	Program string // path of longterm; empty: none
}

// outputMark starts the lines of our scripts: login scripts may print any text.
const outputMark = "longterm-there:"

// probeScript finds longterm in PATH and in the installation directory. It has no single quotes, and no exclamation marks
// (csh).
const probeScript = `echo "` + outputMark + `system $(uname -sm)"
for p in "$(command -v longterm)" "$HOME/.local/bin/longterm"; do
if [ -n "$p" ] && [ -x "$p" ]; then echo "` + outputMark + `program $p"; exit 0; fi
done
exit 0`

// probe returns the system of a host and the path of its longterm.
func (s *SSH) probe(ctx context.Context, t Target, quiet bool) (ProbeResult, error) {
	out, err := s.run(ctx, t, quiet, "exec sh -c '"+probeScript+"'", nil)
	if err != nil {
		return ProbeResult{}, err
	}
	return parseProbe(t, out)
}

// parseProbe parses the output of probeScript.
func parseProbe(t Target, out string) (ProbeResult, error) {
	var there ProbeResult
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if _, after, ok := strings.Cut(line, outputMark); ok {
			what, value, _ := strings.Cut(after, " ")
			switch what {
			case "system":
				there.System = systemOf(value)
			case "program":
				there.Program = value
			}
		}
	}
	if there.System == "" {
		return there, api.Errorf(api.CodeUnavailable, "%s lets you in, but has no shell that runs commands: %s", t, lastLine(out)).
			WithHint("`ssh %s uname -sm` must print its system", t)
	}
	if strings.ContainsFunc(there.Program, func(r rune) bool { return r < ' ' || r == 0x7f }) || there.Program != "" && !filepath.IsAbs(there.Program) {
		there.Program = "" // an alias or a function
	}
	return there, nil
}

// systemOf converts uname -sm to Go's names.
func systemOf(uname string) string {
	system, machine, _ := strings.Cut(strings.TrimSpace(uname), " ")
	goos := map[string]string{"Linux": "linux", "Darwin": "darwin", "FreeBSD": "freebsd", "OpenBSD": "openbsd", "NetBSD": "netbsd"}[system]
	arch := map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv7l": "arm", "armv6l": "arm",
		"i686": "386", "i386": "386", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
	}[machine]
	if goos == "" || arch == "" {
		return printable(uname)
	}
	return goos + "/" + arch
}

// Build is a program that can be copied to a host.
type Build struct {
	Path   string
	System string
	Bytes  int64
	SHA256 string
}

// FindBuild returns the program for a system: longterm-OS-ARCH in the release directory or next to this program, or
// this program itself.
func FindBuild(system, releases string) (Build, error) {
	name := "longterm-" + strings.ReplaceAll(system, "/", "-")
	self := sys.SelfExe()
	var places []string
	if releases != "" {
		places = append(places, filepath.Join(releases, name))
	} else {
		if exe, err := os.Executable(); err == nil {
			places = append(places, filepath.Join(filepath.Dir(exe), name))
		}
		if system == runtime.GOOS+"/"+runtime.GOARCH {
			places = append(places, self)
		}
	}
	var tried []error
	for _, p := range places {
		b := Build{Path: p, System: system}
		f, err := os.Open(p)
		if err != nil {
			tried = append(tried, err)
			continue
		}
		sum := sha256.New()
		b.Bytes, err = io.Copy(sum, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return b, err
		}
		b.SHA256 = hex.EncodeToString(sum.Sum(nil))
		return b, nil
	}
	return Build{}, api.Errorf(api.CodeHostBare, "no build of longterm for %s here: %v", system, errors.Join(tried...)).
		WithHint("put %s beside this program, or name its directory with --release-dir", name)
}

// installScript writes its standard input to the home directory if it has the expected hash. It replaces an old file
// atomically or not at all.
const installScript = `umask 022
d="$HOME/.local/bin"; t="$d/.longterm.$$"
mkdir -p "$d" || exit 1
trap "rm -f \"$t\"" EXIT
cat > "$t" || exit 1
s="$( (sha256sum "$t" || shasum -a 256 "$t" || openssl dgst -sha256 -r "$t" || sha256 -q "$t") 2>/dev/null)"
s="${s%%%% *}"
if [ -z "$s" ]; then echo "` + outputMark + `nosum"; exit 0; fi
if [ "$s" = "%s" ]; then :; else echo "` + outputMark + `sum $s"; exit 0; fi
chmod 755 "$t" || exit 1
"$t" version >/dev/null || { echo "` + outputMark + `broken"; exit 0; }
mv -f "$t" "$d/longterm" || exit 1
echo "` + outputMark + `done $d/longterm"`

// Install copies a build to a host, into the user's home directory, and returns its path.
func (s *SSH) Install(ctx context.Context, t Target, b Build, quiet bool) (program string, err error) {
	f, err := os.Open(b.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	out, err := s.run(ctx, t, quiet, "exec sh -c '"+fmt.Sprintf(installScript, b.SHA256)+"'", f)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		_, after, ok := strings.Cut(strings.TrimRight(line, "\r\n"), outputMark)
		if !ok {
			continue
		}
		switch what, value, _ := strings.Cut(after, " "); what {
		case "done":
			return value, nil
		case "nosum":
			return "", api.Errorf(api.CodeHostBare, "%s has nothing to check a SHA-256 with; nothing was installed", t).
				WithHint("install sha256sum, shasum or openssl there, or longterm itself")
		case "sum":
			return "", api.Errorf(api.CodeHostBare, "what arrived on %s has the SHA-256 %s, not %s; nothing was installed", t, printable(value), b.SHA256).
				WithHint("try again; if it stays so, see what is between here and there")
		case "broken":
			return "", api.Errorf(api.CodeHostBare, "%s does not run on %s; nothing was installed", b.Path, t).
				WithHint("give a static build for %s: CGO_ENABLED=0 go build -o longterm-%s, and --release-dir", b.System, strings.ReplaceAll(b.System, "/", "-"))
		}
	}
	return "", api.Errorf(api.CodeUnavailable, "%s reported no result of the copy: %s", t, lastLine(out))
}

// Probe returns what is installed on a host.
func (w *RemoteHost) Probe(ctx context.Context) (ProbeResult, error) {
	if err := os.MkdirAll(w.SSH.Dir, 0o700); err != nil {
		return ProbeResult{}, err
	}
	return w.SSH.probe(ctx, w.Target, !w.Prompts)
}
