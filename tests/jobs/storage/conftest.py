from tests.jobs.storage import servers

moto_server = servers.moto_server
account = servers.account
s3 = servers.s3
signing = servers.signing
faulty = servers.faulty
