//go:build unix

package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/longterm-dev/longterm/session/api"
)

// check returns an error for a subscription that no message can be sent to. Addresses are checked when they are dialed.
func check(o api.SubscribePush) error {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(o.Endpoint) > 2048 {
		return api.Errorf(api.CodeInvalid, "invalid endpoint of a push service (must be an https URL)").WithHint("pass the endpoint of the browser's PushSubscription")
	}
	key, err := decodeKey(o.Keys.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return api.Errorf(api.CodeInvalid, "keys.p256dh is no public key of P-256").WithHint("pass the keys of the browser's PushSubscription")
	}
	if auth, err := decodeKey(o.Keys.Auth); err != nil || len(auth) != 16 {
		return api.Errorf(api.CodeInvalid, "keys.auth is no secret of 16 bytes").WithHint("pass the keys of the browser's PushSubscription")
	}
	if strings.ContainsFunc(o.Device, unicode.IsControl) || len(o.Device) > 4*80 {
		return api.Errorf(api.CodeInvalid, "the device's name has control characters, or is too long").WithHint("pass a short name")
	}
	return nil
}

// decodeKey decodes base64url, with or without padding.
func decodeKey(text string) ([]byte, error) {
	if len(text) > 128 {
		return nil, errors.New("too long")
	}
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// timeout bounds one attempt to send a message.
const timeout = 15 * time.Second

// NewClient returns a client for push services. It follows no redirects, uses no proxy, and connects to private
// addresses only if private returns true: the endpoint is chosen by a browser and must not reach into the network.
func NewClient(private func() bool) *http.Client {
	d := &net.Dialer{Timeout: timeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err != nil || !isPublic(to.Addr()) && !private() {
			return fmt.Errorf("%s is a private address, which push services must not have (http.push_private)", address)
		}
		return nil
	}}
	return &http.Client{
		Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: d.DialContext, TLSHandshakeTimeout: timeout, MaxIdleConns: 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

// reserved are address ranges that are neither private nor public in the terms of package netip.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("2001::/32"), // both contain IPv4 addresses
}

// isPublic reports whether an address belongs to the public internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
