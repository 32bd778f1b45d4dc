package fastpath

import (
	"os"
	"strconv"
	"syscall"
)

// socket returns the path of the daemon's socket, as paths.Dirs.Socket does, or "" in unusual cases.
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

// hasNoConfig reports that no configuration exists, so no verb can complain about it.
func hasNoConfig() bool {
	for _, variable := range []string{"LONGTERM_THEME", "LONGTERM_PREFIX", "LONGTERM_DETACH_KEY"} {
		if os.Getenv(variable) != "" {
			return false
		}
	}
	dir := os.Getenv("LONGTERM_DIR")
	switch {
	case dir != "":
	case os.Getenv("XDG_CONFIG_HOME") != "":
		dir = os.Getenv("XDG_CONFIG_HOME") + "/longterm"
	default:
		dir = os.Getenv("HOME") + "/.config/longterm"
	}
	var st syscall.Stat_t
	return dir[0] == '/' && syscall.Lstat(dir+"/config.toml", &st) == syscall.ENOENT
}

// answerTimeout is how long the fast path waits for an answer, in microseconds. A slower answer goes to the verb, which
// handles interrupts; the program initialises while the daemon works.
const answerTimeout = 50 * 1000

// request sends one HTTP/1.1 request as a user to the daemon of our own user, and returns the body of a complete answer
// with status 200 or 201. In all other cases it returns ok = false: an agent's label, no daemon, another user's daemon,
// an error, an incomplete answer. A request that was already sent is in Sent.
func request(method, uri, body string) (answer string, ok bool) {
	head := "Connection: close\r\n"
	if body != "" {
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	f := begin(method, uri, head, body)
	if f == nil {
		return "", false
	}
	status, whole := 0, false
	read(f, func(all string) bool { // the end of the connection takes a turn of the daemon's more
		status, answer, whole = parse(all)
		return whole
	})
	return answer, whole && (status == 200 || status == 201)
}

// begin sends a request and stores it in Sent. It returns nil if nothing was sent.
func begin(method, uri, head, body string) *os.File {
	name := socket()
	if name == "" || os.Getenv("LONGTERM_AGENT") != "" {
		return nil
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	if !connectOwn(fd, name) {
		_ = f.Close()
		return nil
	}
	Sent = Request{Method: method, URI: uri, Conn: f}
	if _, err := f.WriteString(method + " " + uri + " HTTP/1.1\r\nHost: longterm\r\n" + head + "\r\n" + body); err != nil {
		return nil
	}
	return f
}

// read reads more of Sent's answer until enough returns true for all of it. enough is called after each read.
func read(f *os.File, enough func(all string) bool) {
	buf := make([]byte, 16<<10)
	all := []byte(Sent.Got)
	for {
		n, err := f.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil || n < len(buf) && enough(string(all)) {
			Sent.Got = string(all)
			return
		}
	}
}

// connectOwn connects to a socket and reports whether a process of this user serves it.
func connectOwn(fd int, name string) bool {
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: name}) != nil { // too long a path as well
		return false
	}
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	return err == nil && int(peer.Uid) == os.Getuid() &&
		syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Usec: answerTimeout}) == nil
}

// parse parses an HTTP/1.1 answer (RFC 9112) that extends to the end of s.
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
		body, ok = joinChunks(body)
		return status, body, ok
	}
	return 0, "", false // without a length, the end of the body could not be distinguished from a broken connection
}

// joinChunks joins the chunks of a body. It returns false if the body is incomplete (RFC 9112, 7.1).
func joinChunks(s string) (string, bool) {
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
