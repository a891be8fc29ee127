# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of every kind that a peer may show, made once a session with the openssl command.

    certificates = Certificates(folder)
    certificates.good        # a PEM file with certificate and key; certificates.key("good") has the key alone
    certificates.ca, certificates.other_ca, certificates.crl

`good`, `revoked`, `expired`, `early` (not valid yet) and `wrong_name` are signed by `ca`, and so are the clients' `client`,
`only_a_name`, `two_names`, `plus_name`, `odd_name` and `server_only`, whose use is another. `unknown` and `stranger` (a
client's) are signed by `other_ca`, which nobody trusts. Servers' name localhost, 127.0.0.1 and ::1, but for `wrong_name`.
"""
import pathlib
import subprocess

HERE = "DNS:localhost,IP:127.0.0.1,IP:::1"
ODD = b"victim@example.com\0.example"  # an e-mail address that some take to end early
KINDS = {  # who signs, what names, from and to when
    "good": ("ca", HERE, None),
    "client": ("ca", "email:client@example.com", None),
    "only_a_name": ("ca", "DNS:elsewhere.example.com", None),
    "two_names": ("ca", "DNS:x.example.com,email:first@example.com,email:second@example.com", None),
    "plus_name": ("ca", "DNS:elsewhere.example.com", None),
    "server_only": ("ca", "email:client@example.com", None),
    "odd_name": ("ca", f"DER:{bytes([0x30, len(ODD) + 2, 0x81, len(ODD)]).hex(':')}:{ODD.hex(':')}", None),
    "revoked": ("ca", HERE, None),
    "expired": ("ca", HERE, ("20200101000000Z", "20210101000000Z")),
    "early": ("ca", HERE, ("20480101000000Z", "20490101000000Z")),
    "wrong_name": ("ca", "DNS:elsewhere.example.com", None),
    "unknown": ("other_ca", HERE, None),
    "stranger": ("other_ca", "email:stranger@example.com", None),
}
SUBJECTS = {"plus_name": r"tim\+x@example.com"}  # NAME.example.com, for the others
USES = {"server_only": "serverAuth"}
CONFIGURATION = """\
[ca]
default_ca = this
[this]
database = {folder}/{name}.index
new_certs_dir = {folder}
rand_serial = yes
unique_subject = no
certificate = {folder}/{name}.pem
private_key = {folder}/{name}.key
default_md = sha256
default_days = 30
default_crl_days = 30
policy = any
copy_extensions = copy
[any]
commonName = supplied
"""
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


class Certificates:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ("ca", "other_ca"):
            self._make_authority(name)
        for name, (signer, names, span) in KINDS.items():
            self._make(name, signer, names, span)
        self._sign_oneself("self_signed")
        self._openssl("ca", "-config", self.folder / "ca.cnf", "-revoke", self.folder / "revoked.crt")
        self._openssl("ca", "-config", self.folder / "ca.cnf", "-gencrl", "-out", self.crl)

    def __getattr__(self, name):
        path = self.folder / f"{name}.pem"
        if name.startswith("_") or not path.exists():
            raise AttributeError(name)
        return path

    crl = property(lambda self: self.folder / "crl.pem")

    def key(self, name):
        return self.folder / f"{name}.key"

    def alone(self, name):
        """The certificate without its key."""
        return self.folder / f"{name}.crt"

    def _openssl(self, *words):
        done = subprocess.run(["openssl", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert done.returncode == 0, (words, done.stderr.decode())

    def _make_authority(self, name):
        self._openssl("req", "-x509", *CURVE, "-days", "30", "-subj", f"/CN=the {name} of a test", "-keyout", self.key(name),
                      "-out", self.folder / f"{name}.pem", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        (self.folder / f"{name}.index").touch()
        (self.folder / f"{name}.cnf").write_text(CONFIGURATION.format(folder=self.folder, name=name))

    def _make(self, name, signer, names, span):
        request = self.folder / f"{name}.csr"
        use = ["-addext", f"extendedKeyUsage={USES[name]}"] if name in USES else []
        self._openssl("req", *CURVE, "-subj", f"/CN={SUBJECTS.get(name, name + '.example.com')}", "-addext", f"subjectAltName={names}",
                      *use, "-keyout", self.key(name), "-out", request)
        when = ["-startdate", span[0], "-enddate", span[1]] if span else []
        self._openssl("ca", "-batch", "-notext", "-config", self.folder / f"{signer}.cnf", *when, "-in", request,
                      "-out", self.alone(name))
        self._join(name)

    def _sign_oneself(self, name):
        self._openssl("req", "-x509", *CURVE, "-days", "30", "-subj", f"/CN={name}.example.com",
                      "-addext", f"subjectAltName={HERE}", "-addext", "basicConstraints=CA:FALSE",
                      "-keyout", self.key(name), "-out", self.alone(name))
        self._join(name)

    def _join(self, name):
        (self.folder / f"{name}.pem").write_bytes(self.alone(name).read_bytes() + self.key(name).read_bytes())
