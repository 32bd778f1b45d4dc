//go:build !linux

package sys

import (
	"errors"
	"syscall"
)

// ReceiveNotification fails: system calls wait for nobody here.
func ReceiveNotification(int) (Notification, error) { return Notification{}, errors.ErrUnsupported }

// AnswerNotification fails likewise.
func AnswerNotification(int, uint64, syscall.Errno) error { return errors.ErrUnsupported }

// NotificationWaits is false of all.
func NotificationWaits(int, uint64) bool { return false }

// WakeAtOnce does nothing.
func WakeAtOnce(int) {}

// ReadExecution fails likewise.
func ReadExecution(Notification, int) (Execution, error) { return Execution{}, errors.ErrUnsupported }
