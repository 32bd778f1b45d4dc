//go:build linux && !amd64 && !arm64

package bpf

var machine arch
