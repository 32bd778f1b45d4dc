package shortcut

import (
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

// settled says that nothing of the configuration can be wrong, for verbs that complain of it: there is none.
func settled() bool {
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

// patience is how long an answer is waited for here. What takes longer is waited for by the verb, which can be
// interrupted as it has to be; until then the program is initialised while the daemon works.
const patience = 50 * 1000 // µs

// request makes one HTTP/1.1 request as a person at the socket of a daemon that our own user runs, and returns the
// body of an answer with status 200 or 201. All else is not ok: an agent's label, no daemon, another's, an error, an
// answer that is not whole yet. What was sent by then is Begun.
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

// begin sends a request, which is Begun then. nil: nothing was sent.
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
	if !ours(fd, name) {
		_ = f.Close()
		return nil
	}
	Begun = Request{Method: method, URI: uri, Conn: f}
	if _, err := f.WriteString(method + " " + uri + " HTTP/1.1\r\nHost: longterm\r\n" + head + "\r\n" + body); err != nil {
		return nil
	}
	return f
}

// read reads on what was Begun until enough of it is there: what is there by then is asked each time that there is more.
func read(f *os.File, enough func(all string) bool) {
	buf := make([]byte, 16<<10)
	all := []byte(Begun.Got)
	for {
		n, err := f.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil || n < len(buf) && enough(string(all)) {
			Begun.Got = string(all)
			return
		}
	}
}

// ours connects to a socket, and says whether our own user serves it.
func ours(fd int, name string) bool {
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: name}) != nil { // too long a path as well
		return false
	}
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	return err == nil && int(peer.Uid) == os.Getuid() &&
		syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Usec: patience}) == nil
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
