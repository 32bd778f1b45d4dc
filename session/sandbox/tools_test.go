package sandbox

import (
	"errors"
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
	user := uidGid()
	for l, want := range map[Level]string{
		Bwrap: "bwrap --die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-uts --cap-drop ALL --unshare-net --ro-bind / / --dev /dev --proc /proc " +
			"--ro-bind-try /proc/sys /proc/sys --ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger " +
			"--tmpfs /run --remount-ro /run --tmpfs /tmp --tmpfs /var/tmp --bind /w /w --ro-bind /w/.git /w/.git --ro-bind /dev/null /w/none --chdir /w -- /bin/echo hi",
		Docker: "docker run --rm --interactive --tty --init --cap-drop ALL --security-opt no-new-privileges --read-only --user " + user + " --network none " +
			"--memory 1073741824 --cpus 1.5 --pids-limit 10 --tmpfs /run --tmpfs /tmp --tmpfs /var/tmp --mount type=bind,source=/w,target=/w " +
			"--mount type=bind,source=/w/.git,target=/w/.git,readonly --tmpfs /w/none --env A=b --workdir /w debian:12 /bin/echo hi",
		Podman: "podman run --rm --interactive --tty --init --cap-drop ALL --security-opt no-new-privileges --read-only --userns keep-id --network none " +
			"--memory 1073741824 --cpus 1.5 --pids-limit 10 --tmpfs /run --tmpfs /tmp --tmpfs /var/tmp --mount type=bind,source=/w,target=/w " +
			"--mount type=bind,source=/w/.git,target=/w/.git,readonly --tmpfs /w/none --env A=b --workdir /w debian:12 /bin/echo hi",
	} {
		argv, err := r.Command(l, p, []string{"/bin/echo", "hi"}, []string{"A=b", "PATH=/x"})
		if got := strings.Join(argv, " "); err != nil || got != want {
			t.Errorf("%s, %v:\n%s\nwant\n%s", l, err, got, want)
		}
	}
	var no *LevelError
	if _, err := r.Command(Docker, &Profile{}, nil, nil); !errors.As(err, &no) {
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
