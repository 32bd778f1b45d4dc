//go:build unix

package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/sys"
)

// maxSocketPath is what fits sockaddr_un everywhere (104 bytes on the BSDs, 108 on
// Linux, with the final NUL).
const maxSocketPath = 103

// Listen listens on a Unix socket at path, however long the path is.
func Listen(path string) (*net.UnixListener, error) {
	var l *net.UnixListener
	err := withShortPath(path, func(p string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: p, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // the name may have been taken over by a successor
	return l, nil
}

// ErrForeign is returned for a socket that another user serves: what is sent there, such as
// an environment, would be his.
var ErrForeign = errors.New("the socket is served by another user; nothing was sent")

// ourUID is the user who must serve what we connect to. Tests are another one.
var ourUID = os.Geteuid

// Dial connects to the Unix socket at path, however long the path is. Only our own user may
// serve it.
func Dial(path string) (*net.UnixConn, error) {
	var c *net.UnixConn
	err := withShortPath(path, func(p string) (err error) {
		c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: p, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	uid, _, err := sys.PeerOf(c)
	if err == nil && uid != ourUID() {
		err = fmt.Errorf("%w: uid %d serves %s, you are uid %d", ErrForeign, uid, path, ourUID())
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// withShortPath calls f with a name for path that fits a socket address: the path
// itself, or one through a descriptor of its directory.
func withShortPath(path string, f func(string) error) error {
	if len(path) <= maxSocketPath {
		return f(path)
	}
	if _, ok := sys.OwnFile(0); !ok {
		return fmt.Errorf("socket path %s is longer than %d bytes; set LONGTERM_DIR to a shorter directory", path, maxSocketPath)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	short, _ := sys.OwnFile(dir.Fd())
	return f(short + "/" + filepath.Base(path))
}
