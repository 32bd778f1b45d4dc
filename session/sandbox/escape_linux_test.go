package sandbox

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sys"
)

var update = flag.Bool("update", false, "write the table of docs/sandbox.md")

// outerSetup is the environment outside of a sandbox in which a user's attempts are made.
type outerSetup struct {
	t    *testing.T
	at   Place
	g    escapeTarget
	udp  *net.UDPConn
	exe  string
	user *syscall.Credential // nil: this process's user
}

// newOuter returns the environment for a user's attempts.
func newOuter(t *testing.T, user *syscall.Credential) *outerSetup {
	t.Helper()
	at := testPlace(t)
	root := filepath.Dir(at.Home)
	o := &outerSetup{t: t, at: at, user: user, exe: root + "/bin/escape"}
	o.g = escapeTarget{
		cwd: at.Cwd, outside: root + "/outside", own: at.OwnDirs[0], hidden: at.OwnDirs[0] + "/secret", sock: root + "/outside/sock",
		abstract: "@" + root, pid: os.Getpid(),
	}
	if err := os.MkdirAll(at.Cwd+"/nested/deep/.git/hooks", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{o.g.outside + "/file": "kept", o.g.outside + "/mode": "", o.g.hidden: "secret", at.Cwd + "/src/mine": "mine"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.copyExecutable()
	if err := unix.Mkfifo(at.Cwd+"/src/fifo", 0o666); err != nil {
		t.Fatal(err)
	}
	o.listen()
	id, err := unix.SysvShmGet(int(o.key()), 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	o.freezable()
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	if user != nil {
		// The test's tree belongs to that user, and directories above it can be traversed.
		for dir := root; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
			_ = os.Chmod(dir, 0o755)
		}
		err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, int(user.Uid), int(user.Gid)))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// key returns a key of shared memory that no other program uses.
func (o *outerSetup) key() uint32 {
	h := uint32(2166136261)
	for _, c := range []byte(o.at.Home) {
		h = (h ^ uint32(c)) * 16777619
	}
	o.g.ipc = fmt.Sprint(h & 0x7fffffff)
	return h & 0x7fffffff
}

// freezable creates a cgroup that the user may freeze, like that of a keeper. If that fails, the attempt on it proves
// nothing.
func (o *outerSetup) freezable() {
	parent, err := sys.OwnCgroup()
	if err != nil {
		return
	}
	o.g.cgroup = filepath.Join(parent, "longterm-escape-"+o.g.ipc)
	if os.Mkdir(o.g.cgroup, 0o755) != nil {
		return
	}
	o.t.Cleanup(func() { _ = os.Remove(o.g.cgroup) })
	if o.user == nil {
		return
	}
	for _, name := range []string{"", "/cgroup.freeze", "/cgroup.kill"} {
		_ = os.Chown(o.g.cgroup+name, int(o.user.Uid), int(o.user.Gid))
	}
}

// copyExecutable copies this program to a directory that any user can read.
func (o *outerSetup) copyExecutable() {
	exe, err := os.Executable()
	if err != nil {
		o.t.Fatal(err)
	}
	from, err := os.Open(exe)
	if err != nil {
		o.t.Fatal(err)
	}
	defer from.Close()
	err = os.MkdirAll(filepath.Dir(o.exe), 0o755)
	to, err2 := os.OpenFile(o.exe, os.O_CREATE|os.O_WRONLY, 0o755)
	if err = errors.Join(err, err2); err == nil {
		_, err = io.Copy(to, from)
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// listen opens sockets of all kinds outside.
func (o *outerSetup) listen() {
	keep := func(l net.Listener, err error) net.Listener {
		if err != nil {
			o.t.Fatal(err)
		}
		o.t.Cleanup(func() { _ = l.Close() })
		return l
	}
	keep(net.Listen("unix", o.g.sock))
	keep(net.Listen("unix", o.g.abstract))
	o.g.tcp = keep(net.Listen("tcp4", "127.0.0.1:0")).Addr().String()
	u, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		o.t.Fatal(err)
	}
	o.udp, o.g.udp = u, u.LocalAddr().String()
	o.t.Cleanup(func() { _ = u.Close() })
	if err := errors.Join(os.Chmod(o.g.sock, 0o777), os.Chmod(o.g.outside, 0o777)); err != nil {
		o.t.Fatal(err)
	}
}

// runAt makes the attempts at a level, "" without a sandbox, and returns which of them escaped.
func (o *outerSetup) runAt(l Level, p *Profile) map[string]bool {
	o.t.Helper()
	argv, env, exe := append([]string{"escape"}, o.g.args()...), os.Environ(), o.exe
	if l != "" {
		at := o.at
		at.ReadInHidden = []string{o.exe}
		r, err := p.Resolve(at)
		if err != nil {
			o.t.Fatal(err)
		}
		spec := confine.Spec{Path: o.exe}
		if err := r.Confine(&spec, l, ProxyConfig{}); err != nil {
			o.t.Fatal(err)
		}
		if argv, env, err = spec.Command(argv, env); err != nil {
			o.t.Fatal(err)
		}
	}
	var out, said bytes.Buffer
	cmd := &exec.Cmd{Path: exe, Args: argv, Env: env, Dir: o.at.Cwd, Stdout: &out, Stderr: &said, WaitDelay: time.Minute, SysProcAttr: &syscall.SysProcAttr{Credential: o.user}}
	if err := cmd.Run(); err != nil {
		o.t.Fatalf("%v: %s%s", err, &out, &said)
	}
	got := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var key string
		var yes bool
		if _, err := fmt.Sscan(line, &key, &yes); err == nil {
			got[key] = yes
		}
	}
	for key, trace := range map[string]bool{"udp": o.hasDatagram(), "left": o.hasSurvivor(), "write": o.written(), "protect": o.startsShells()} {
		got[key] = got[key] || trace
	}
	if len(got) != len(escapeAttempts) {
		o.t.Fatalf("%d of %d were tried: %s%s", len(got), len(escapeAttempts), &out, &said)
	}
	return got
}

// hasDatagram reports whether a datagram arrived. Over loopback it has arrived when its sender has exited.
func (o *outerSetup) hasDatagram() bool {
	raw, err := o.udp.SyscallConn()
	if err != nil {
		o.t.Fatal(err)
	}
	n := 0
	err = raw.Read(func(fd uintptr) bool {
		n, _, _ = unix.Recvfrom(int(fd), make([]byte, 8), unix.MSG_DONTWAIT)
		return true
	})
	return err == nil && n > 0
}

// hasSurvivor reports whether a process of the program still reads its fifo, and ends it.
func (o *outerSetup) hasSurvivor() bool {
	f, err := os.OpenFile(o.at.Cwd+"/src/fifo", os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_, _ = f.WriteString("end\n")
	return f.Close() == nil
}

// startsShells reports whether a start file was changed.
func (o *outerSetup) startsShells() bool {
	b, err := os.ReadFile(o.at.Home + "/.bashrc")
	return err != nil || len(b) > 0
}

// written reports whether the protected files were changed.
func (o *outerSetup) written() bool {
	b, err := os.ReadFile(o.g.outside + "/file")
	entries, _ := os.ReadDir(o.g.outside)
	return err != nil || string(b) != "kept" || len(entries) != 3 // file, mode, sock
}

// nobody is an ordinary user.
var nobody = &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: false}

// TestEscapes checks that attempts escape exactly where the report states it.
//
// FEATURES: R67
func TestEscapes(t *testing.T) {
	users := map[string]*syscall.Credential{"ours": nil}
	if os.Geteuid() == 0 {
		users["nobody"] = nobody
	}
	results := map[Level]map[string]bool{}
	for name, user := range users {
		t.Run(name, func(t *testing.T) {
			base := newOuter(t, user).runAt("", nil)
			for key, out := range base {
				if !out && (name == "ours" && os.Geteuid() == 0 || !needsRoot[key]) {
					t.Logf("%s does not escape without a sandbox: not tested here", key)
				}
			}
			for _, l := range []Level{Landlock, Userns} {
				t.Run(string(l), func(t *testing.T) {
					have := machineFeatures()
					if err := have.checkLevel(l, &Profile{}); err != nil {
						t.Skip(err)
					}
					for _, p := range escapeProfiles(t) {
						o := newOuter(t, user)
						r, err := p.Resolve(o.at)
						if err != nil {
							t.Fatal(err)
						}
						got := o.runAt(l, p)
						for _, row := range Restrictions {
							out, tried := got[row.Key]
							if held := row.IsEnforced(l, r, have); !tried || out && held || !out && !held && base[row.Key] {
								t.Errorf("%s, %s: escaped %v, reported as enforced %v", p.Name, row.Key, out, held)
							}
						}
						if p.Name == "workspace" && name == "ours" {
							results[l] = got
						}
					}
				})
			}
		})
	}
	if len(results) == 2 && os.Geteuid() == 0 {
		compareTable(t, results)
	}
}

// needsRoot lists attempts that fail for an ordinary user anywhere.
var needsRoot = map[string]bool{"devices": true, "kernel": true, "raw": true, "keys": true, "tiocsti": false}

// escapeProfiles returns the profiles that the attempts try to escape from.
func escapeProfiles(t *testing.T) []*Profile {
	workspace, _ := Builtin("workspace")
	network, _ := Builtin("network")
	open := *profileFor(t, "[p]\nextends = \"workspace\"\nunix_sockets = true\nnetwork = \"on\"\nprivate_tmp = false\n")
	open.Name = "open"
	return []*Profile{&workspace, &network, &open}
}

const tableBegin, tableEnd = "<!-- made by TestEscapes -->\n", "<!-- end -->\n"

// compareTable compares the table of docs/sandbox.md with the results of the attempts.
func compareTable(t *testing.T, results map[Level]map[string]bool) {
	var b strings.Builder
	b.WriteString("| tried, in profile `workspace` | landlock | userns |\n|---|---|---|\n")
	word := map[bool]string{true: "**not held**", false: "held"}
	for _, row := range Restrictions {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.Text, word[results[Landlock][row.Key]], word[results[Userns][row.Key]])
	}
	path := "../../docs/sandbox.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), tableBegin)
	old, tail, ok2 := strings.Cut(rest, tableEnd)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no place for the table", path)
	case old == b.String():
	case *update:
		if err := os.WriteFile(path, []byte(head+tableBegin+b.String()+tableEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s differs from the results; -update writes it:\n%s", path, &b)
	}
}
