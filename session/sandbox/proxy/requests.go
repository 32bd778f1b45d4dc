package proxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// maxHead bounds the head of an HTTP request, in bytes.
const maxHead = 32 << 10

// errRequest rejects an invalid request.
var errRequest = errors.New("this is no request that a proxy can serve; give CONNECT HOST:PORT, or an http:// URL")

// readHTTP reads the head of a request.
func readHTTP(in *bufio.Reader) (*request, error) {
	var head []byte
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errRequest, err)
		}
		if head = append(head, line...); len(head) > maxHead {
			return nil, errRequest
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			break
		}
	}
	return parseHTTP(head)
}

// parseHTTP returns the destination of a request's head, and the bytes to send there.
func parseHTTP(head []byte) (*request, error) {
	first, rest, _ := strings.Cut(string(head), "\n")
	words := strings.Split(strings.TrimRight(first, "\r"), " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/1.") || words[0] == "" {
		return nil, errRequest
	}
	if words[0] == "CONNECT" {
		host, port, err := hostPort(words[1], 0)
		if err != nil {
			return nil, err
		}
		return &request{host: host, port: port, respond: answerConnect}, nil
	}
	url, ok := cutFold(words[1], "http://")
	if !ok {
		return nil, errRequest
	}
	at, path := url, "/"
	if i := strings.IndexAny(url, "/?#"); i >= 0 {
		at, path = url[:i], url[i:]
	}
	if i := strings.LastIndexByte(at, '@'); i >= 0 {
		at = at[i+1:]
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	host, port, err := hostPort(at, 80)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", words[0], path)
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\r\n")
		name, _, ok := strings.Cut(line, ":")
		switch {
		case line == "":
		case !ok || name == "" || strings.ContainsAny(name, " \t") || strings.ContainsAny(line, "\r\x00"):
			return nil, errRequest
		case isOneOf(name, "connection", "proxy-connection", "proxy-authorization", "keep-alive", "host"):
		default:
			b.WriteString(line + "\r\n")
		}
	}
	b.WriteString("Host: " + at + "\r\nConnection: close\r\n\r\n")
	return &request{host: host, port: port, prefix: []byte(b.String()), respond: answerPlain}, nil
}

// cutFold cuts a prefix like strings.CutPrefix, in any case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// isOneOf reports whether a header name is one of names, in any case.
func isOneOf(name string, names ...string) bool {
	for _, n := range names {
		if strings.EqualFold(name, n) {
			return true
		}
	}
	return false
}

// hostPort parses HOST:PORT with a default port; dflt 0 makes the port mandatory.
func hostPort(s string, dflt int) (string, int, error) {
	host, text := s, ""
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, text = h, p
	} else if dflt == 0 {
		return "", 0, errRequest
	}
	host = strings.Trim(host, "[]")
	if host == "" || strings.ContainsAny(host, "/@ \t\r\n\x00") {
		return "", 0, errRequest
	}
	if text == "" {
		if dflt == 0 {
			return "", 0, errRequest
		}
		return host, dflt, nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return "", 0, errRequest
	}
	return host, int(port), nil
}

// answerConnect sends the response to CONNECT.
func answerConnect(w io.Writer, err error) error {
	if err != nil {
		return refuseHTTP(w, err)
	}
	_, err = io.WriteString(w, "HTTP/1.1 200 Connected\r\n\r\n")
	return err
}

// answerPlain sends an error response to a request other than CONNECT. Without an error it sends nothing: the destination
// responds.
func answerPlain(w io.Writer, err error) error {
	if err != nil {
		return refuseHTTP(w, err)
	}
	return nil
}

// refuseHTTP sends an error to the client.
func refuseHTTP(w io.Writer, err error) error {
	status := "502 Bad Gateway"
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		status = "403 Forbidden"
	case errors.Is(err, errRequest):
		status = "400 Bad Request"
	}
	text := "longterm: " + strings.Map(printable, err.Error()) + "\n"
	_, werr := fmt.Fprintf(w, "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\nX-Longterm-Sandbox: refused\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(text), text)
	return werr
}

// printable replaces control characters by blanks.
func printable(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// SOCKS5, RFC 1928.
const (
	socksVersion = 5
	socksNoAuth  = 0
	socksNone    = 0xff
	socksConnect = 1
	socksV4      = 1
	socksName    = 3
	socksV6      = 4

	socksGranted     = 0
	socksFailed      = 1
	socksRefused     = 2
	socksNoCommand   = 7
	socksNoAddresses = 8
)

// readSocks reads a client's greeting and request, and responds to the greeting.
func readSocks(in *bufio.Reader, out io.Writer) (*request, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(in, methods); err != nil {
		return nil, err
	}
	if bytes.IndexByte(methods, socksNoAuth) < 0 {
		_, err := out.Write([]byte{socksVersion, socksNone})
		return nil, errors.Join(errRequest, err)
	}
	if _, err := out.Write([]byte{socksVersion, socksNoAuth}); err != nil {
		return nil, err
	}
	r, code, err := readSocksRequest(in)
	if err != nil && code != 0 {
		err = errors.Join(err, socksAnswer(out, code))
	}
	return r, err
}

// readSocksRequest reads a client's destination; code is the response if it is invalid.
func readSocksRequest(in io.Reader) (r *request, code byte, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, 0, err
	}
	if head[0] != socksVersion {
		return nil, socksFailed, errRequest
	}
	var size int
	switch head[3] {
	case socksV4:
		size = 4
	case socksV6:
		size = 16
	case socksName:
		n := make([]byte, 1)
		if _, err := io.ReadFull(in, n); err != nil {
			return nil, 0, err
		}
		size = int(n[0])
	default:
		return nil, socksNoAddresses, errRequest
	}
	b := make([]byte, size+2)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, 0, err
	}
	r = &request{port: int(binary.BigEndian.Uint16(b[size:])), respond: answerSocks}
	if a, ok := netip.AddrFromSlice(b[:size]); ok && head[3] != socksName {
		r.host = a.Unmap().String()
	} else {
		r.host = string(b[:size])
	}
	switch {
	case head[1] != socksConnect:
		return nil, socksNoCommand, errRequest
	case r.host == "" || r.port == 0:
		return nil, socksFailed, errRequest
	}
	return r, socksGranted, nil
}

// answerSocks sends the result of a connection.
func answerSocks(w io.Writer, err error) error {
	var refused *RefusedError
	switch {
	case err == nil:
		return socksAnswer(w, socksGranted)
	case errors.As(err, &refused):
		return socksAnswer(w, socksRefused)
	}
	return socksAnswer(w, socksFailed)
}

// socksAnswer sends a response code.
func socksAnswer(w io.Writer, code byte) error {
	_, err := w.Write([]byte{socksVersion, code, 0, socksV4, 0, 0, 0, 0, 0, 0})
	return err
}
