package listeners

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// reuse sets SO_REUSEPORT, which lets several processes accept at one port.
var reuse = net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
	return sys.Control(c, func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
}}

func init() { helper = listenAsHelper }

// listenAsHelper listens where helperEnv says, prints the port, and ends with its standard input. "inherited" has the listener
// as descriptor 3.
func listenAsHelper() {
	if at := os.Getenv(helperEnv); at != "inherited" {
		if os.Getenv(helperEnv+"_LO") != "" {
			_ = sys.LoopbackUp()
		}
		l, err := reuse.Listen(context.Background(), "tcp", at)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l.Addr().(*net.TCPAddr).Port)
	} else {
		fmt.Println("inherited")
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// start runs helper and returns its pid and the line that it prints.
func start(t *testing.T, at string, change func(*exec.Cmd)) (pid int, line string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+at)
	cmd.Stderr = os.Stderr
	if change != nil {
		change(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("no such process can be started here:", err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, strings.TrimSpace(line)
}

func listen(t *testing.T, network, at string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, at)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// FEATURES: R128
func TestLook(t *testing.T) {
	self := [][]int{{os.Getpid()}}
	tcp, sock := listen(t, "tcp4", "127.0.0.1:0"), filepath.Join(t.TempDir(), "s")
	listen(t, "unix", sock)
	conn, err := net.Dial("tcp", tcp.Addr().String()) // a connection is no listener
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got := Look(self, true)[0].Sockets
	if len(got) != 2 || got[0].Addr.String() != tcp.Addr().String() || got[0].PID != os.Getpid() || got[0].Inside || got[1].Path != sock {
		t.Errorf("%+v", got)
	}
	if got := Look(self, false)[0].Sockets; len(got) != 1 {
		t.Errorf("without Unix sockets: %+v", got)
	}
	_ = tcp.Close()
	if got := Look(self, true)[0].Sockets; len(got) != 1 || got[0].Path != sock {
		t.Errorf("after the close: %+v", got)
	}
	if got := Look([][]int{{1 << 30}, nil}, true); len(got) != 2 || len(got[0].Sockets)+len(got[1].Sockets) != 0 {
		t.Errorf("of no process: %+v", got)
	}
}

// FEATURES: R128
func TestLook_IPv6(t *testing.T) {
	l := listen(t, "tcp6", "[::1]:0")
	if got := Look([][]int{{os.Getpid()}}, false)[0].Sockets; len(got) != 1 || got[0].Addr.String() != l.Addr().String() {
		t.Errorf("%+v", got)
	}
}

// A listener that a process inherits belongs to its parent in one group, and to itself in a group without the parent.
//
// FEATURES: R128
func TestLook_Inherited(t *testing.T) {
	l := listen(t, "tcp4", "127.0.0.1:0").(*net.TCPListener)
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	child, _ := start(t, "inherited", func(c *exec.Cmd) { c.ExtraFiles = []*os.File{f} })
	got := Look([][]int{{child, os.Getpid()}, {child}}, false)
	if len(got[0].Sockets) != 1 || got[0].Sockets[0].PID != min(child, os.Getpid()) || len(got[1].Sockets) != 1 || got[1].Sockets[0].PID != child {
		t.Errorf("%+v", got)
	}
}

// FEATURES: R128
func TestLook_OnePortInTwoGroups(t *testing.T) {
	one, port := start(t, "127.0.0.1:0", nil)
	two, same := start(t, "127.0.0.1:"+port, nil)
	got := Look([][]int{{one}, {two}}, false)
	if port != same || len(got[0].Sockets) != 1 || len(got[1].Sockets) != 1 || got[0].Sockets[0].Addr != got[1].Sockets[0].Addr || got[1].Sockets[0].PID != two {
		t.Errorf("%s, %s: %+v", port, same, got)
	}
}

// FEATURES: R128
func TestLook_OtherNetwork(t *testing.T) {
	pid, port := start(t, "0.0.0.0:0", func(c *exec.Cmd) {
		users, groups := sys.UserMaps()
		c.Env = append(c.Env, helperEnv+"_LO=1")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, UidMappings: users, GidMappings: groups}
	})
	mine := listen(t, "tcp4", "127.0.0.1:0")
	got := Look([][]int{{pid}, {os.Getpid()}}, false)
	if s := got[0].Sockets; len(s) != 1 || !s[0].Inside || fmt.Sprint(s[0].Addr.Port()) != port {
		t.Errorf("%s: %+v", port, s)
	}
	if s := got[1].Sockets; len(s) != 1 || s[0].Inside || s[0].Addr.String() != mine.Addr().String() {
		t.Errorf("%+v", s)
	}
}

// Both sources of the table agree.
//
// FEATURES: R128
func TestRead_ByFiles(t *testing.T) {
	tcp, sock := listen(t, "tcp4", "127.0.0.1:0"), filepath.Join(t.TempDir(), "s")
	listen(t, "unix", sock)
	listen(t, "tcp6", "[::1]:0")
	want := Look([][]int{{os.Getpid()}}, true)[0].Sockets
	d, err := sys.OpenDir(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l := look{unix: true, tables: map[string]map[uint64]Socket{}}
	table, held := map[uint64]Socket{}, map[uint64]Socket{}
	l.readFiles(d, func(inode uint64, s Socket) bool { table[inode] = s; return true })
	l.tables[l.namespace(d)] = table
	l.process(d, os.Getpid(), held)
	got := newFound(slices.Collect(maps.Values(held))).Sockets
	if len(got) != 3 || !slices.Equal(got, want) || got[0].Addr.String() != tcp.Addr().String() && got[1].Addr.String() != tcp.Addr().String() {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func FuzzDiag(f *testing.F) {
	f.Add(make([]byte, inetAnswer))
	f.Add(append(make([]byte, unixAnswer), 8, 0, 0, 0, 0, 'a', 'b', 'c'))
	f.Fuzz(func(t *testing.T, b []byte) {
		if addr, _, ok := parseInetDiag(b); ok && (!addr.IsValid() || addr.Port() == 0) {
			t.Errorf("%x: %v", b, addr)
		}
		if path, _, ok := parseUnixDiag(b); ok && path == "" {
			t.Errorf("%x", b)
		}
	})
}

// A program that opens thousands of ports gets a list of Most.
//
// FEATURES: R128
func TestLook_Thousands(t *testing.T) {
	const n = 1000
	for range n {
		listen(t, "tcp4", "127.0.0.1:0")
	}
	if f := Look([][]int{{os.Getpid()}}, true)[0]; len(f.Sockets) != Most || f.More != n-Most {
		t.Errorf("%d and %d more", len(f.Sockets), f.More)
	}
}

// BenchmarkLook measures a look at 200 sessions of one process with 20 descriptors, all of them this process.
func BenchmarkLook(b *testing.B) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	groups := make([][]int, 200)
	for i := range groups {
		groups[i] = []int{os.Getpid()}
	}
	for _, n := range []int{1, len(groups)} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Look(groups[:n], true)
			}
		})
	}
}
