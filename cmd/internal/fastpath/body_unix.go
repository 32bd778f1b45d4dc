//go:build unix

package fastpath

import (
	"io"
	"os"
	"strconv"
	"syscall"
)

// newSession returns the body of a request for a session (api.NewSession), as the verb new builds it. It returns false
// if a part is unknown or not UTF-8.
func newSession(name string, argv []string) (body string, ok bool) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", false
	}
	if ID, err = randomID(); err != nil {
		return "", false
	}
	mask := syscall.Umask(0o077) // reading the mask requires changing it; no other thread creates files yet
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

// randomID returns 128 random bits in hexadecimal. Package crypto/rand must not be imported here.
func randomID() (string, error) {
	fd, err := syscall.Open("/dev/urandom", syscall.O_RDONLY|syscall.O_CLOEXEC, 0) // os.Open would create the poller
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
