package shortcut

import (
	"io"
	"os"
	"strconv"
	"syscall"
)

// socket is where paths.Dirs.Socket has the daemon's; empty where that is not plain.
func socket() string {
	abs := func(variable string) string {
		if s := os.Getenv(variable); s != "" && s[0] == '/' {
			return s
		}
		return ""
	}
	if s := os.Getenv("LONGTERM_DIR"); s != "" {
		if s[0] != '/' {
			return ""
		}
		return s + "/run/daemon.sock"
	}
	if s := abs("XDG_RUNTIME_DIR"); s != "" {
		return s + "/longterm/daemon.sock"
	}
	if s := abs("XDG_STATE_HOME"); s != "" {
		return s + "/longterm/run/daemon.sock"
	}
	if s := abs("HOME"); s != "" {
		return s + "/.local/state/longterm/run/daemon.sock"
	}
	return ""
}

// request is one HTTP/1.1 request as a person at the socket of a daemon that our own user runs, and the
// body of an answer with status 200 or 201. All else is not ok: an agent's label, no daemon, another's,
// an error, a broken answer. sent, where not nil, says whether the daemon may have seen the request and
// not refused it.
func request(method, path, body string, sent *bool) (answer string, ok bool) {
	name := socket()
	if name == "" || os.Getenv("LONGTERM_AGENT") != "" {
		return "", false
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: name}) != nil { // too long a path as well
		return "", false
	}
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || int(peer.Uid) != os.Getuid() {
		return "", false
	}
	head := method + " " + path + " HTTP/1.1\r\nHost: longterm\r\nConnection: close\r\n"
	if body != "" {
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	if sent != nil {
		*sent = true
	}
	if _, err := f.WriteString(head + "\r\n" + body); err != nil {
		return "", false
	}
	all, err := io.ReadAll(f)
	if err != nil {
		return "", false
	}
	status, answer, ok := parse(string(all))
	if ok && status >= 400 && sent != nil {
		*sent = false // refused: nothing was done
	}
	return answer, ok && (status == 200 || status == 201)
}

// parse reads an answer of HTTP/1.1 (RFC 9112) that goes on to the end of s.
func parse(s string) (status int, body string, ok bool) {
	head, body, ok := cut(s, "\r\n\r\n")
	if !ok || len(head) < len("HTTP/1.1 200") || head[:len("HTTP/1.1 ")] != "HTTP/1.1 " {
		return 0, "", false
	}
	status, err := strconv.Atoi(head[len("HTTP/1.1 "):len("HTTP/1.1 200")])
	if err != nil {
		return 0, "", false
	}
	// Names of fields are written by Go's server, in its canonical form.
	if _, after, found := cut(head+"\r\n", "\r\nContent-Length: "); found {
		length, _, _ := cut(after, "\r\n")
		n, err := strconv.Atoi(length)
		return status, body, err == nil && n == len(body)
	}
	if _, _, found := cut(head+"\r\n", "\r\nTransfer-Encoding: chunked\r\n"); found {
		body, ok = unchunked(body)
		return status, body, ok
	}
	return 0, "", false // its end could not be told from a broken connection
}

// unchunked joins the chunks of a body; false: it is not whole (RFC 9112, 7.1).
func unchunked(s string) (string, bool) {
	var b []byte
	for {
		size, rest, ok := cut(s, "\r\n")
		if !ok {
			return "", false
		}
		n, err := strconv.ParseUint(size, 16, 31)
		if err != nil {
			return "", false
		}
		if n == 0 {
			return string(b), true
		}
		if uint64(len(rest)) < n+2 || rest[n:n+2] != "\r\n" {
			return "", false
		}
		b = append(b, rest[:n]...)
		s = rest[n+2:]
	}
}
