package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCommands checks that Command returns these argument vectors.
//
// FEATURES: R67
func TestCommands(t *testing.T) {
	r := &Rules{
		Read: []string{"/"}, Write: []string{"/w"}, Protect: []string{"/w/.git"}, Hide: []string{"/run", "/w/none"}, PrivateTmp: true, Network: NetworkOff, Cwd: "/w",
	}
	p := &Profile{Image: "debian:12", Memory: 1 << 30, CPU: 1.5, PIDs: 10}
	user := func(l Level) string { return strings.Join(containerUser(l, os.Getuid(), os.Getgid()), " ") }
	for l, want := range map[Level]string{
		Bwrap: "bwrap --die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL --unshare-net --ro-bind / / --dev /dev --proc /proc " +
			"--ro-bind-try /proc/sys /proc/sys --ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger " +
			"--tmpfs /run --remount-ro /run --tmpfs /tmp --tmpfs /var/tmp --bind /w /w --ro-bind /w/.git /w/.git --ro-bind /dev/null /w/none --chdir /w -- /bin/echo hi",
		Docker: "docker run --rm --interactive --tty --init --cap-drop ALL --security-opt no-new-privileges --read-only " + user(Docker) + " --network none " +
			"--memory 1073741824 --cpus 1.5 --pids-limit 10 --tmpfs /run --tmpfs /tmp --tmpfs /var/tmp --mount type=bind,source=/w,target=/w " +
			"--mount type=bind,source=/w/.git,target=/w/.git,readonly --mount type=bind,source=/dev/null,target=/w/none,readonly --env A --workdir /w debian:12 /bin/echo hi",
		Podman: "podman run --rm --interactive --tty --init --cap-drop ALL --security-opt no-new-privileges --read-only " + user(Podman) + " --network none " +
			"--memory 1073741824 --cpus 1.5 --pids-limit 10 --tmpfs /run --tmpfs /tmp --tmpfs /var/tmp --mount type=bind,source=/w,target=/w " +
			"--mount type=bind,source=/w/.git,target=/w/.git,readonly --mount type=bind,source=/dev/null,target=/w/none,readonly --env A --workdir /w debian:12 /bin/echo hi",
	} {
		argv, err := r.Command(l, p, []string{"/bin/echo", "hi"}, []string{"A=b", "PATH=/x", "A=c"}, false)
		if got := strings.Join(argv, " "); err != nil || got != want {
			t.Errorf("%s, %v:\n%s\nwant\n%s", l, err, got, want)
		}
	}
	if got := containerUser(Podman, 1000, 100); !slices.Equal(got, []string{"--userns", "keep-id"}) {
		t.Errorf("podman without root: %q", got)
	}
	if got := containerUser(Podman, 0, 0); !slices.Equal(got, []string{"--user", "0:0"}) { // it refuses keep-id
		t.Errorf("podman as root: %q", got)
	}
	piped, err := r.Command(Docker, p, []string{"make"}, nil, true)
	if got := strings.Join(piped, " "); err != nil || strings.Contains(got, "--tty") || !strings.HasSuffix(got, " --workdir /w debian:12 make") {
		t.Errorf("on pipes: %s, %v", got, err)
	}
	var no *LevelError
	if _, err := r.Command(Docker, &Profile{}, nil, nil, false); !errors.As(err, &no) {
		t.Errorf("without an image: got %v", err)
	}
}

// TestChoose checks that an unavailable level is an error with a hint; no other level replaces it.
//
// FEATURES: R67
func TestChoose(t *testing.T) {
	gone := errors.New("not allowed")
	for _, c := range []struct {
		p    Profile
		have Features
		want Level
		text string
	}{
		{Profile{}, Features{Landlock: 7}, Userns, ""},
		{Profile{}, Features{Landlock: 7, Userns: gone}, Landlock, ""},
		{Profile{}, Features{Landlock: 2, Userns: gone}, "", "level userns cannot be had: not allowed; the sandbox level landlock cannot be had: the kernel has version 2"},
		{Profile{Level: Userns}, Features{Landlock: 7, Userns: gone}, Userns, "not allowed"},
		{Profile{Level: Landlock}, Features{Landlock: 7}, Landlock, ""},
		{Profile{Level: Landlock, Network: NetworkHosts}, Features{Landlock: 7}, Landlock, "to a list of hosts"},
		{Profile{Network: NetworkHosts}, Features{Landlock: 7, Userns: gone}, "", "to a list of hosts"},
		{Profile{Level: Seatbelt}, Features{}, Seatbelt, "program sandbox-exec not found"},
		{Profile{Level: Bwrap}, Features{}, Bwrap, "program bwrap not found"},
		{Profile{Level: Docker, Network: NetworkHosts}, Features{ToolPaths: map[Level]string{Docker: "/d"}}, Docker, "by level userns only"},
		{Profile{Level: Bwrap}, Features{ToolPaths: map[Level]string{Bwrap: "/b"}}, Bwrap, ""},
	} {
		l, err := c.p.Choose(c.have)
		if l != c.want || (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %s, %v", c, l, err)
		}
	}
}

// The profile of seatbelt denies by default. Paths are quoted, and stricter lines come after wider ones.
//
// FEATURES: R67
func TestSeatbelt(t *testing.T) {
	r := &Rules{
		Read: []string{"/"}, Write: []string{"/w", `/a "b"\c`}, Protect: []string{"/w/.git"}, Hide: []string{"/h"}, ReadInHidden: []string{"/h/shell"}, WriteInHidden: []string{"/h/tmp"}, Network: NetworkOff,
	}
	const files = `(allow file-read* (subpath "/"))
(allow file-read* file-write* (subpath "/w") (subpath "/a \"b\"\\c"))
(deny file-write* (subpath "/w/.git"))
(deny file-read* file-write* (subpath "/h"))
(allow file-read* (subpath "/h/shell"))
(allow file-read* file-write* (subpath "/h/tmp"))
`
	const sockets = "(allow network-bind (local unix-socket))\n(allow network-outbound (remote unix-socket))\n"
	for _, c := range []struct {
		network Network
		unix    bool
		want    string
	}{
		{NetworkOff, false, ""},
		{NetworkOff, true, sockets},
		{NetworkOn, true, "(allow network* system-socket)\n" + sockets},
		{NetworkOn, false, "(allow network* system-socket)\n" + strings.ReplaceAll(sockets, "allow", "deny") + "(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n"},
	} {
		r.Network, r.UnixSockets = c.network, c.unix
		argv, err := r.Command(Seatbelt, &Profile{}, []string{"/bin/echo", "hi"}, nil, false)
		if err != nil || len(argv) != 5 || argv[0] != "sandbox-exec" || argv[1] != "-p" || argv[2] != seatbeltBase+files+c.want || argv[3] != "/bin/echo" {
			t.Errorf("network %s, sockets %v: %v\n%s", c.network, c.unix, err, strings.Join(argv, "\n"))
		}
		if strings.Count(argv[2], "(") != strings.Count(argv[2], ")") || !strings.HasPrefix(argv[2], "(version 1)\n(deny default)\n") {
			t.Errorf("not a profile: %s", argv[2])
		}
	}
}

// TestCredentials checks that named credentials are read, also where they are hidden, and not written, also in a
// writable directory.
//
// FEATURES: R67
func TestCredentials(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"work", ".aws", ".ssh", ".config/gh", ".config/gcloud"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Decode("x", []byte("[c]\nread = [\"/usr\"]\nwrite = [\"$CWD\", \"~/.config\"]\nhide = [\"~/.aws\", \"~/.ssh\", \"~/.config/gcloud\"]\ncredentials = [\"aws\", \"gh\", \"npm\"]\nlevel = \"docker\"\nimage = \"i\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Profile("c")
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Resolve(Place{Home: home, Cwd: filepath.Join(home, "work")})
	if err != nil {
		t.Fatal(err)
	}
	argv, err := r.Command(Docker, &p, []string{"make"}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Join(argv, " ")
	for path, want := range map[string]bool{"/.aws": true, "/.config/gh": true, "/.ssh": false, "/.config/gcloud": false, "/.npmrc": false} {
		mount := "type=bind,source=" + home + path + ",target=" + home + path
		if got := strings.Contains(args, mount+",readonly"); got != want || strings.Contains(args, mount+" ") {
			t.Errorf("%s: mounted read-only %v, want %v, in %s", path, got, want, args)
		}
	}
	below := Profile{Read: []string{"/usr"}, Hide: []string{"~/.config"}, Credentials: []string{"gh"}}
	if r, err := below.Resolve(Place{Home: home, Cwd: filepath.Join(home, "work")}); err != nil || !slices.Equal(r.ReadInHidden, []string{home + "/.config/gh"}) {
		t.Errorf("below a hidden directory: %+v, %v", r, err)
	}
	var wrong *Problem
	if _, err := Decode("x", []byte("[c]\ncredentials = [\"aws\", \"bank\"]\n")); !errors.As(err, &wrong) || !strings.Contains(err.Error(), `credentials: "bank"; there are aws, azure,`) {
		t.Errorf("an unknown name: %v", err)
	}
}
