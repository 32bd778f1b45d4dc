package apitoken

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Source decides which requests may come at all. The host must be one of ours (otherwise a foreign name was pointed
// here), and a page's origin must be the same host and port. Loopback is always allowed.
type Source struct {
	Hosts   []string // names that requests may give as their host, besides those of loopback
	Origins []string // origins of pages that may ask, as https://host
}

// Check rejects requests that a foreign web page made a browser send. The error is a SourceError, to which the caller adds
// the setting that would allow the request.
func (s Source) Check(r *http.Request) error {
	host := hostOf(r.Host)
	if !isLoopback(host) && !slices.Contains(s.Hosts, host) {
		return &SourceError{What: "host", Value: r.Host}
	}
	for _, origin := range r.Header.Values("Origin") {
		if slices.Contains(s.Origins, origin) {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) { // a page of another port is another site
			return &SourceError{What: "origin", Value: origin}
		}
	}
	return nil
}

// SourceError is a host or an origin that is not ours.
type SourceError struct{ What, Value string } // What: host or origin

func (e *SourceError) Error() string {
	value := e.Value
	if len(value) > maxShown {
		value = value[:maxShown] + "…"
	}
	if e.What == "origin" {
		return fmt.Sprintf("pages of %q may not send requests here", value)
	}
	return fmt.Sprintf("the host %q is not served here", value)
}

// maxShown bounds what a message repeats of a request, in bytes.
const maxShown = 64

// BearerOf returns the token in a request's header. Tokens in URLs are not accepted: they end up in logs.
func BearerOf(r *http.Request) (token string, ok bool) { return Bearer(r.Header.Get("Authorization")) }

// Bearer returns the token in the value of an Authorization header.
func Bearer(authorization string) (token string, ok bool) {
	scheme, token, found := strings.Cut(authorization, " ")
	token = strings.TrimSpace(token)
	return token, found && strings.EqualFold(scheme, "bearer") && token != ""
}

// hostOf returns the host of HOST or HOST:PORT in lower case. If the port is no number, all of it is the host.
func hostOf(hostport string) string {
	host := hostport
	if h, port, err := net.SplitHostPort(hostport); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil || port == "" {
			host = h
		}
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Loopback reports whether a listen address, HOST:PORT, is reachable from this machine only.
func Loopback(addr string) bool { return isLoopback(hostOf(addr)) }
