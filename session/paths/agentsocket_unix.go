//go:build unix

package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// AgentSocket returns the link by which sessions reach the ssh agent of the last attached client.
func (d Dirs) AgentSocket() string { return filepath.Join(d.Run, "ssh-agent.sock") }

// LinkAgentSocket points AgentSocket at a socket, which must belong to this user. The link itself, or its current
// target, changes nothing.
func (d Dirs) LinkAgentSocket(socket string) error {
	link := d.AgentSocket()
	if !filepath.IsAbs(socket) {
		return fmt.Errorf("the ssh agent's socket %q is no absolute path; set SSH_AUTH_SOCK to one", socket)
	}
	target, err := filepath.EvalSymlinks(socket)
	if err != nil {
		return fmt.Errorf("the ssh agent's socket: %w; SSH_AUTH_SOCK names it", err)
	}
	// A link that leads to ours would, once ours leads to it, lead nowhere: it is followed to its end.
	if now, err := filepath.EvalSymlinks(link); err == nil && now == target {
		return nil
	}
	st, err := os.Lstat(target)
	if err != nil {
		return fmt.Errorf("the ssh agent's socket: %w", err)
	}
	if st.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s is no socket; SSH_AUTH_SOCK has to name the one of an ssh agent", target)
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Getuid() {
		return fmt.Errorf("the socket %s is not yours; keys are not given through it", target)
	}
	part := fmt.Sprintf("%s.%d", link, os.Getpid()) // concurrent clients use separate names
	_ = os.Remove(part)                             // left by one that was killed
	if err := os.Symlink(target, part); err != nil {
		return fmt.Errorf("link the ssh agent's socket: %w", err)
	}
	if err := os.Rename(part, link); err != nil {
		_ = os.Remove(part)
		return fmt.Errorf("link the ssh agent's socket: %w", err)
	}
	return nil
}
