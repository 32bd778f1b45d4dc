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

// reusePort sets SO_REUSEPORT, which lets several processes accept at one port.
var reusePort = net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
	return sys.Control(c, func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
}}

func init() { runHelper = listenAsHelper }

// listenAsHelper listens at the address in helperEnv, prints the port, and exits with its standard input. "inherited" means
// the listener in descriptor 3.
func listenAsHelper() {
	if at := os.Getenv(helperEnv); at != "inherited" {
		if os.Getenv(helperEnv+"_LO") != "" {
			_ = sys.EnableLoopback()
		}
		l, err := reusePort.Listen(context.Background(), "tcp", at)
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

// startHelper runs the helper and returns its pid and the line that it prints.
func startHelper(t *testing.T, at string, change func(*exec.Cmd)) (pid int, line string) {
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
func TestFind(t *testing.T) {
	self := [][]int{{os.Getpid()}}
	tcp, sock := listen(t, "tcp4", "127.0.0.1:0"), filepath.Join(t.TempDir(), "s")
	listen(t, "unix", sock)
	conn, err := net.Dial("tcp", tcp.Addr().String()) // a connection is not a listener
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got := Find(self, true)[0].Sockets
	if len(got) != 2 || got[0].Addr.String() != tcp.Addr().String() || got[0].PID != os.Getpid() || got[0].IsOtherNamespace || got[1].Path != sock {
		t.Errorf("%+v", got)
	}
	if got := Find(self, false)[0].Sockets; len(got) != 1 {
		t.Errorf("without Unix sockets: %+v", got)
	}
	_ = tcp.Close()
	if got := Find(self, true)[0].Sockets; len(got) != 1 || got[0].Path != sock {
		t.Errorf("after the close: %+v", got)
	}
	if got := Find([][]int{{1 << 30}, nil}, true); len(got) != 2 || len(got[0].Sockets)+len(got[1].Sockets) != 0 {
		t.Errorf("of no process: %+v", got)
	}
}

// FEATURES: R128
func TestFind_IPv6(t *testing.T) {
	l := listen(t, "tcp6", "[::1]:0")
	if got := Find([][]int{{os.Getpid()}}, false)[0].Sockets; len(got) != 1 || got[0].Addr.String() != l.Addr().String() {
		t.Errorf("%+v", got)
	}
}

// TestFind_Inherited checks that a listener that a process inherits belongs to its parent in a group of both, and to
// itself in a group without the parent.
//
// FEATURES: R128
func TestFind_Inherited(t *testing.T) {
	l := listen(t, "tcp4", "127.0.0.1:0").(*net.TCPListener)
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	child, _ := startHelper(t, "inherited", func(c *exec.Cmd) { c.ExtraFiles = []*os.File{f} })
	got := Find([][]int{{child, os.Getpid()}, {child}}, false)
	if len(got[0].Sockets) != 1 || got[0].Sockets[0].PID != min(child, os.Getpid()) || len(got[1].Sockets) != 1 || got[1].Sockets[0].PID != child {
		t.Errorf("%+v", got)
	}
}

// FEATURES: R128
func TestFind_OnePortInTwoGroups(t *testing.T) {
	one, port := startHelper(t, "127.0.0.1:0", nil)
	two, same := startHelper(t, "127.0.0.1:"+port, nil)
	got := Find([][]int{{one}, {two}}, false)
	if port != same || len(got[0].Sockets) != 1 || len(got[1].Sockets) != 1 || got[0].Sockets[0].Addr != got[1].Sockets[0].Addr || got[1].Sockets[0].PID != two {
		t.Errorf("%s, %s: %+v", port, same, got)
	}
}

// FEATURES: R128
func TestFind_OtherNetwork(t *testing.T) {
	pid, port := startHelper(t, "0.0.0.0:0", func(c *exec.Cmd) {
		users, groups := sys.UserMaps()
		c.Env = append(c.Env, helperEnv+"_LO=1")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, UidMappings: users, GidMappings: groups}
	})
	mine := listen(t, "tcp4", "127.0.0.1:0")
	got := Find([][]int{{pid}, {os.Getpid()}}, false)
	if s := got[0].Sockets; len(s) != 1 || !s[0].IsOtherNamespace || fmt.Sprint(s[0].Addr.Port()) != port {
		t.Errorf("%s: %+v", port, s)
	}
	if s := got[1].Sockets; len(s) != 1 || s[0].IsOtherNamespace || s[0].Addr.String() != mine.Addr().String() {
		t.Errorf("%+v", s)
	}
}

// TestReadNamespace_ByFiles checks that both sources of the table give the same listeners.
//
// FEATURES: R128
func TestReadNamespace_ByFiles(t *testing.T) {
	tcp, sock := listen(t, "tcp4", "127.0.0.1:0"), filepath.Join(t.TempDir(), "s")
	listen(t, "unix", sock)
	listen(t, "tcp6", "[::1]:0")
	want := Find([][]int{{os.Getpid()}}, true)[0].Sockets
	d, err := sys.OpenProcDir(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l := scan{withUnix: true, tables: map[string]map[uint64]Socket{}}
	table, held := map[uint64]Socket{}, map[uint64]Socket{}
	l.readFiles(d, func(inode uint64, s Socket) bool { table[inode] = s; return true })
	l.tables[l.namespace(d)] = table
	l.addProcess(d, os.Getpid(), held)
	got := newGroupSockets(slices.Collect(maps.Values(held))).Sockets
	if len(got) != 3 || !slices.Equal(got, want) || got[0].Addr.String() != tcp.Addr().String() && got[1].Addr.String() != tcp.Addr().String() {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func FuzzDiag(f *testing.F) {
	f.Add(make([]byte, inetAnswerSize))
	f.Add(append(make([]byte, unixAnswerSize), 8, 0, 0, 0, 0, 'a', 'b', 'c'))
	f.Fuzz(func(t *testing.T, b []byte) {
		if addr, _, ok := parseInetDiag(b); ok && (!addr.IsValid() || addr.Port() == 0) {
			t.Errorf("%x: %v", b, addr)
		}
		if path, _, ok := parseUnixDiag(b); ok && path == "" {
			t.Errorf("%x", b)
		}
	})
}

// TestFind_Thousands checks that a program that opens thousands of ports gets a list of MaxSockets.
//
// FEATURES: R128
func TestFind_Thousands(t *testing.T) {
	const n = 1000
	for range n {
		listen(t, "tcp4", "127.0.0.1:0")
	}
	if f := Find([][]int{{os.Getpid()}}, true)[0]; len(f.Sockets) != MaxSockets || f.Omitted != n-MaxSockets {
		t.Errorf("%d and %d more", len(f.Sockets), f.Omitted)
	}
}

// BenchmarkFind measures a scan of 200 sessions of one process with 20 descriptors, all of them this process.
func BenchmarkFind(b *testing.B) {
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
				Find(groups[:n], true)
			}
		})
	}
}
