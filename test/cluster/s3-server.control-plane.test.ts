import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { firstUpTimeoutMs } from '../support/shared-cluster';
import { S3Server } from '../support/s3-server';

let server: S3Server;
let client: S3Client;

beforeAll(async () => {
  server = await S3Server.start({ buckets: ['ready'] });
  client = new S3Client({ endpoint: server.endpoint, region: server.region, forcePathStyle: true, credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey } });
}, firstUpTimeoutMs);

afterAll(async () => {
  client.destroy();
  await server.stop();
});

test.each(['ready', 'made'])('an object comes back from the bucket %s as it went', async (bucket) => {
  if (bucket === 'made') await client.send(new CreateBucketCommand({ Bucket: bucket }));
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'a/b', Body: 'hello' }));
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: 'a/b' }));
  expect(await Body!.transformToString()).toBe('hello');
});

test('a wrong key is refused', async () => {
  const stranger = new S3Client({ endpoint: server.endpoint, region: server.region, forcePathStyle: true, credentials: { accessKeyId: server.accessKey, secretAccessKey: 'wrong' } });
  await expect(stranger.send(new GetObjectCommand({ Bucket: 'ready', Key: 'a/b' }))).rejects.toThrow(/signature/i);
  stranger.destroy();
});
