"""`cloze serve` as a process of a script."""
import re
import subprocess


def start_server(program, model, *options):
    """Starts a server on a free port. Returns the process and its address, http://127.0.0.1:PORT
    without a slash at the end.

    The standard error of the process is a pipe, which has been read up to the line with the
    address. If the server does not start, the script ends with what the server printed."""
    server = subprocess.Popen([program, "serve", "--init-checkpoint", model, "--port", "0", *options],
                              stderr=subprocess.PIPE, text=True)
    return server, address_of(server)


def address_of(server):
    """Reads the standard error of a server that starts up to the line with its address."""
    said = []
    for line in iter(server.stderr.readline, ""):
        said.append(line)
        address = re.search(r"http://\S+?(?=/:)", line)
        if address:
            return address.group(0)
    raise SystemExit(f"the server did not start: {''.join(said)}")
