//go:build unix

package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// benchSSH is an ssh server on the loopback interface, with its own keys and configuration.
type benchSSH struct {
	cmd  *exec.Cmd
	port int
}

// startBenchSSH starts a server with additional configuration lines, or returns nil if sshd is unavailable.
func startBenchSSH(b *sessionBench, config string) *benchSSH {
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd = "/usr/sbin/sshd"; exec.Command(sshd, "-V").Run() != nil {
			return nil
		}
	}
	port, err := freePort()
	if err != nil || writeSSHConfig(b.dir, port, config) != nil {
		return nil
	}
	argv := []string{sshd, "-D", "-f", filepath.Join(b.dir, "sshd_config")}
	if _, err := os.Stat("/run/sshd"); err != nil && os.Getuid() == 0 { // required as root: on a separate file system
		argv = append([]string{"unshare", "-m", "sh", "-c", `mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"`, "sh"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = b.env
	if cmd.Start() != nil {
		return nil
	}
	s := &benchSSH{cmd, port}
	for range 100 {
		c := b.command(context.Background(), "ssh", "-F", filepath.Join(b.dir, "ssh_config"), "loopback", "true")
		if c.Run() == nil {
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.close()
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func writeSSHConfig(dir string, port int, config string) error {
	for _, name := range []string{"host_key", "user_key"} {
		if err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).Run(); err != nil {
			return err
		}
	}
	server := fmt.Sprintf(`Port %d
ListenAddress 127.0.0.1
HostKey %[2]s/host_key
AuthorizedKeysFile %[2]s/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
PrintMotd no
`, port, dir)
	client := fmt.Sprintf(`Host loopback
HostName 127.0.0.1
Port %d
IdentityFile %[2]s/user_key
IdentitiesOnly yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel QUIET
`, port, dir)
	if err := os.WriteFile(filepath.Join(dir, "sshd_config"), []byte(server+config), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "ssh_config"), []byte(client), 0o600)
}

func (s *benchSSH) close() {
	if s == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}
