//go:build unix

package shortcut

import (
	"io"
	"os"
	"strconv"
	"syscall"
)

// newSession is the body of a request for a session (api.NewSession), as the verb new makes it; false:
// something of it is not UTF-8, or unknown.
func newSession(name string, argv []string) (body string, ok bool) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", false
	}
	if ID, err = randomID(); err != nil {
		return "", false
	}
	mask := syscall.Umask(0o077) // it can only be asked for by changing it; no other thread makes files yet
	syscall.Umask(mask)
	octal := strconv.FormatInt(int64(mask), 8)
	for len(octal) < 4 {
		octal = "0" + octal
	}
	var o object
	if name != "" {
		o.text("name", name)
	}
	o.list("argv", argv)
	o.text("cwd", cwd)
	o.list("env", os.Environ())
	o.text("umask", octal)
	o.text("on_approval", "return")
	o.text("ask_id", ID)
	return o.end()
}

// randomID is 128 bits that nobody has used before. Package crypto/rand is not for here.
func randomID() (string, error) {
	fd, err := syscall.Open("/dev/urandom", syscall.O_RDONLY|syscall.O_CLOEXEC, 0) // os.Open has the poller made first
	if err != nil {
		return "", err
	}
	defer syscall.Close(fd)
	var bits [16]byte
	if n, _ := syscall.Read(fd, bits[:]); n < len(bits) { // so few come at once
		return "", io.ErrUnexpectedEOF
	}
	id := make([]byte, 0, 32)
	for _, c := range bits {
		id = append(id, hex[c>>4], hex[c&15])
	}
	return string(id), nil
}
